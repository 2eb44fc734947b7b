"""expect: accepted. Closes its standard streams: nobody needs them for a verdict."""

import os

for descriptor in (0, 1, 2):
    os.close(descriptor)


def add_one(x):
    return x + 1
