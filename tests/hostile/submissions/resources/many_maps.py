"""expect: accepted or rejected/memory_limit|error|killed. Makes as many small maps as the kernel lets it, each with a record of its own."""

import mmap

kept = []
try:
    while len(kept) < 200_000:
        kept.append(mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, (len(kept) % 2) + 1))
    print("CROSSED: made", len(kept), "maps")
except (OSError, MemoryError):
    pass
del kept
print("stopped")


def add_one(x):
    return x + 1
