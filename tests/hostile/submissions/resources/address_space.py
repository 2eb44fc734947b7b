"""expect: accepted or rejected/memory_limit|error. Reserves all the addresses there are, so that nothing else fits."""

import mmap

kept = []
size = 1 << 46
while size > 1 << 30:
    try:
        kept.append(mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, mmap.PROT_READ))
    except (OSError, ValueError, MemoryError):
        size >>= 1
print("stopped")


def add_one(x):
    return x + 1
