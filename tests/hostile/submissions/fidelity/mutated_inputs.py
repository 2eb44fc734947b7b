"""expect: accepted. Overwrites its input in memory: the judge has its own."""

import ctypes

import numpy as np


def add_one(x):
    answer = np.asarray(x) + 1
    pointer = x.unsafe_buffer_pointer()
    ctypes.memset(pointer, 0xFF, x.nbytes)
    return answer
