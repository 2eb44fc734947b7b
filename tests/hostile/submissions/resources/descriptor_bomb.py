"""expect: accepted; wall: rlimits; says: "stopped". Opens descriptors until none can be opened."""

import os

kept = []
try:
    while len(kept) < 10_000:
        kept.append(os.dup(1))
    print("CROSSED: holds", len(kept), "descriptors")
except OSError:
    print("stopped")
for descriptor in kept:
    os.close(descriptor)


def add_one(x):
    return x + 1
