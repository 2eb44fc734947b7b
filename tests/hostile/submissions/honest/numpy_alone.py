"""expect: accepted. Needs no JAX."""

import numpy as np


def add_one(x):
    return np.add(np.asarray(x), np.float32(1))
