"""expect: accepted; wall: namespaces, landlock; says: "stopped". Writes into the packages that the next submission imports."""

import os
import sysconfig

import jax
import numpy

paths = [module.__file__ for module in (os, jax, numpy)]
paths += [os.path.join(sysconfig.get_path("purelib"), name) for name in ("sitecustomize.py", "planted.pth")]
for path in paths:
    try:
        with open(path, "a") as file:
            file.write("\n")
        print("CROSSED: wrote", path)
    except OSError:
        print("stopped")


def add_one(x):
    return x + 1
