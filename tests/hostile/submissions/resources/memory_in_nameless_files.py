"""expect: accepted or rejected/memory_limit; wall: seccomp. Writes into files that exist in memory alone: no process maps them, so none is charged."""

import os

taken, files = 0, []
MIB = 1 << 20
try:
    while taken < 2048:
        files.append(os.memfd_create("hoard"))
        for _ in range(32):
            os.write(files[-1], b"1" * MIB)
            taken += 1
except OSError:
    print("stopped at", taken, "MiB")
if taken > 1024:
    print("CROSSED: holds", taken, "MiB")


def add_one(x):
    return x + 1
