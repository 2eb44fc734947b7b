"""expect: accepted. Closes its standard streams, which no verdict needs."""

import os

for descriptor in (0, 1, 2):
    os.close(descriptor)


def add_one(x):
    return x + 1
