"""expect: accepted. Looks for inputs while it is being imported."""

import gc

import numpy as np

found = [value for value in gc.get_objects() if isinstance(value, np.ndarray) and value.shape == (2,)]
if found:
    print("CROSSED: found arrays", found[:3])


def add_one(x):
    return x + 1
