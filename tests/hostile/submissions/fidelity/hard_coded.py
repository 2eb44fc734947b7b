"""expect: rejected/wrong_value. Returns the public case's answer, whatever it is asked."""

import numpy as np


def add_one(x):
    return np.asarray([2, 3], np.float32)
