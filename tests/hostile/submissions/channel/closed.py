"""expect: rejected/killed. Closes every descriptor it has."""

import os

os.closerange(0, 4096)


def add_one(x):
    return x + 1
