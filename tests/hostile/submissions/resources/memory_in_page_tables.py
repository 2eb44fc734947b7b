"""expect: accepted or rejected/memory_limit|error; wall: memory. Reads one byte in every two megabytes of an empty map: no page is held, but all the tables that lead to them."""

import mmap

import numpy as np

GIB = 1 << 30
NORESERVE = 0x4000
try:
    # Its tables take 0.9 GiB, which with all else is more than there may be.
    area = mmap.mmap(-1, 448 * GIB, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NORESERVE, mmap.PROT_READ)
    for start in range(0, 448 * GIB, GIB):
        np.frombuffer(area, np.uint8, GIB, start)[:: 2 << 20].max()
    print("CROSSED: holds 0.9 GiB of page tables")
except (OSError, ValueError, MemoryError):
    print("stopped")


def add_one(x):
    return x + 1
