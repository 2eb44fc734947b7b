"""expect: rejected/killed. Puts another file in the channel's place."""

import os

null = os.open("/dev/null", os.O_RDWR)
for descriptor in range(3, 64):
    if descriptor != null:
        os.dup2(null, descriptor)


def add_one(x):
    return x + 1
