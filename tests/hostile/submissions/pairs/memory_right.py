"""expect: accepted; pair: pairs/memory_left. Holds what it may while the other one takes too much."""

import time

import numpy as np

table = np.ones((300, 1 << 20), np.uint8)
time.sleep(1)


def add_one(x):
    return x + 1
