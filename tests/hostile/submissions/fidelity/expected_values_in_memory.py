"""expect: rejected/wrong_value. Hunts for the expected values with the garbage collector."""

import gc

import numpy as np


def add_one(x):
    wanted = np.asarray(x) + 1
    for value in gc.get_objects():
        for item in value.values() if type(value) is dict else value if type(value) in (list, tuple) else ():
            # Its own `wanted` is in no container, so what is equal to it would be an answer somebody keeps here.
            if type(item) is np.ndarray and item is not wanted and item.shape == (2,) and (item == wanted).all():
                print("CROSSED: found the expected values")
                return item
    return x
