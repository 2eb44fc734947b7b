"""expect: rejected/wrong_value. Returns the right bytes in the wrong order."""

import numpy as np


def add_one(x):
    return (np.asarray(x) + 1).byteswap()
