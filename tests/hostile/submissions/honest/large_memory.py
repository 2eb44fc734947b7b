"""expect: accepted. Uses much memory, but no more than it may."""

import numpy as np

table = np.ones((400, 1 << 20), np.uint8)


def add_one(x):
    return x + int(table[7, 7])
