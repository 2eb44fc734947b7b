"""expect: rejected/killed. Announces more than it sends, and leaves."""

import os
import struct

for descriptor in range(3, 256):
    try:
        os.write(descriptor, struct.pack("!IQ", 1000, 1000) + b"{")
    except OSError:
        continue
os._exit(0)


def add_one(x):
    return x + 1
