"""expect: accepted or rejected/memory_limit; wall: memory. Takes shared memory from /dev/zero, where no flag of the call shows it."""

import mmap
import os

import numpy as np

MIB = 1 << 20
taken = 0
try:
    area = mmap.mmap(os.open("/dev/zero", os.O_RDWR), 1536 * MIB, mmap.MAP_SHARED)
    pages = np.frombuffer(area, np.uint8)
    while taken < 1536:
        pages[taken * MIB : (taken + 64) * MIB : 4096] = 1
        area.madvise(mmap.MADV_DONTNEED, taken * MIB, 64 * MIB)
        taken += 64
    print("CROSSED: holds", taken, "MiB")
except (OSError, ValueError, MemoryError):
    print("stopped at", taken, "MiB")


def add_one(x):
    return x + 1
