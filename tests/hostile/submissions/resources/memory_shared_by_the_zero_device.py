"""expect: accepted or rejected/memory_limit; wall: memory. Takes shared memory from /dev/zero, where no flag of the call shows it."""

import mmap
import os

taken = 0
MIB = 1 << 20
try:
    area = mmap.mmap(os.open("/dev/zero", os.O_RDWR), 2048 * MIB, mmap.MAP_SHARED)
    for start in range(0, 2048 * MIB, 64 * MIB):
        for page in range(start, start + 64 * MIB, 4096):
            area[page] = 1
        area.madvise(mmap.MADV_DONTNEED, start, 64 * MIB)
        taken += 64
except (OSError, ValueError, MemoryError):
    print("stopped at", taken, "MiB")
if taken > 1024:
    print("CROSSED: holds", taken, "MiB")


def add_one(x):
    return x + 1
