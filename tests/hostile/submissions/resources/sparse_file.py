"""expect: rejected/killed|error|time_limit; wall: rlimits. Makes one file that claims to be eight exabytes long."""

import os

with open("/tmp/sparse", "wb") as file:
    os.ftruncate(file.fileno(), 1 << 40)
    print("CROSSED: made a sparse file")


def add_one(x):
    return x + 1
