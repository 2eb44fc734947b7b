"""expect: rejected/memory_limit|time_limit. Maps a huge array and touches it page by page: where page faults are dear, its time ends first."""

import numpy as np

hoard = []
while True:
    block = np.empty(64 << 20, np.uint8)
    block[::4096] = 1
    hoard.append(block)


def add_one(x):
    return x + 1
