"""expect: rejected/output_limit; says: "too large". Announces a manifest of four gigabytes."""

import os
import struct

for descriptor in range(3, 256):
    try:
        os.write(descriptor, struct.pack("!IQ", (1 << 32) - 1, 0))
    except OSError:
        continue


def add_one(x):
    return x + 1
