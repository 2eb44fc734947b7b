"""expect: accepted or rejected/time_limit; says: "deep". Nests folders until no path can name the last one, and a clean-up that walks the tree breaks."""

import os

depth = 0
try:
    for depth in range(5000):
        os.mkdir("d")
        os.chdir("d")
except OSError:
    pass
print("deep:", depth)


def add_one(x):
    return x + 1
