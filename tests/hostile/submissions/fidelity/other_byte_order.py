"""expect: rejected/wrong_structure|wrong_dtype. Returns the right bits in the wrong order."""

import numpy as np


def add_one(x):
    return (np.asarray(x) + 1).astype(">f4")
