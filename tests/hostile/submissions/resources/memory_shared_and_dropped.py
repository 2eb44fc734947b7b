"""expect: accepted or rejected/memory_limit|error; wall: memory. Fills shared memory and lets go of its pages: they stay taken, and count for nobody."""

import mmap

taken = 0
MIB = 1 << 20
try:
    area = mmap.mmap(-1, 2048 * MIB, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
    for start in range(0, 2048 * MIB, 64 * MIB):
        for page in range(start, start + 64 * MIB, 4096):
            area[page] = 1
        area.madvise(mmap.MADV_DONTNEED, start, 64 * MIB)
        taken += 64
except (OSError, MemoryError):
    print("stopped at", taken, "MiB")
if taken > 1024:
    print("CROSSED: holds", taken, "MiB")


def add_one(x):
    return x + 1
