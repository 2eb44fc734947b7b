"""expect: accepted or rejected/memory_limit|error; wall: memory. Fills shared memory and lets go of its pages: they stay taken, and no process seems to hold them."""

import mmap

import numpy as np

MIB = 1 << 20
taken = 0
try:
    area = mmap.mmap(-1, 1152 * MIB, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
    pages = np.frombuffer(area, np.uint8)
    while taken < 1152:
        pages[taken * MIB : (taken + 64) * MIB : 4096] = 1
        area.madvise(mmap.MADV_DONTNEED, taken * MIB, 64 * MIB)
        taken += 64
    print("CROSSED: holds", taken, "MiB")
except (OSError, ValueError, MemoryError):
    print("stopped at", taken, "MiB")


def add_one(x):
    return x + 1
