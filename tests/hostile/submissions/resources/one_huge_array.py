"""expect: rejected/memory_limit; wall: rlimits; says: "MemoryError". Asks for more than there is, in one piece."""

import numpy as np

np.zeros(1 << 40, np.uint8)


def add_one(x):
    return x + 1
