"""expect: rejected/output_limit; says: "too large". Announces arrays of an exabyte."""

import os
import struct

for descriptor in range(3, 256):
    try:
        os.write(descriptor, struct.pack("!IQ", 100, 1 << 60))
    except OSError:
        continue


def add_one(x):
    return x + 1
