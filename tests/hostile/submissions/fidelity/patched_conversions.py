"""expect: rejected/wrong_value. Has the runner's own numpy turn every result into the first answer."""

import numpy as np

first = np.asarray([2, 3], np.float32)
np.asarray = np.ascontiguousarray = lambda *_, **__: first


def add_one(x):
    return x
