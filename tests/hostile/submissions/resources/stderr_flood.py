"""expect: rejected/output_limit; says: "64 MiB". Prints without end where errors go."""

import os

while True:
    os.write(2, b"x" * 65536)


def add_one(x):
    return x + 1
