"""expect: accepted. Keeps hidden inputs wherever something might outlive it."""

import os

import jax
import numpy as np

calls = []


def add_one(x):
    calls.append(np.asarray(x))
    if len(calls) > 1:
        os.environ["LD_PRELOAD"] = os.environ["SEEN"] = repr(calls)
        for folder in ("/tmp", "/dev/shm", "/var/tmp", os.path.dirname(jax.__file__)):
            try:
                with open(os.path.join(folder, "left-behind"), "w") as file:
                    file.write(repr(calls))
            except OSError:
                continue
    return x + 1
