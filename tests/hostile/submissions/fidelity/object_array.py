"""expect: rejected/wrong_structure|wrong_dtype. Returns an array of objects."""

import numpy as np


def add_one(x):
    return np.asarray([x + 1, None], object)
