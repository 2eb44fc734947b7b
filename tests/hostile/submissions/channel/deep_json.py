"""expect: rejected/error; says: "result channel". Sends JSON so deep that a recursive reader runs out of stack."""

import os
import struct

for descriptor in range(3, 256):
    try:
        os.write(descriptor, struct.pack("!IQ", 1_000_000, 0) + b"[" * 1_000_000)
    except OSError:
        continue


def add_one(x):
    return x + 1
