"""expect: rejected. Returns a subclass of numpy's array that lies about itself."""

import numpy as np


class Liar(np.ndarray):
    shape = property(lambda self: (2,))
    dtype = property(lambda self: np.dtype(np.float32))

    def __eq__(self, other):
        return np.ones(2, bool)

    def tobytes(self, order="C"):
        return b"\0" * 8


def add_one(x):
    return np.zeros(3, np.float64).view(Liar)
