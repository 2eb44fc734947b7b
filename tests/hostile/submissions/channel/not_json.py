"""expect: rejected/error; says: "result channel". Sends a manifest that is not JSON."""

import os
import struct

for descriptor in range(3, 256):
    try:
        os.write(descriptor, struct.pack("!IQ", 9, 0) + b"\xff\xfe\0not{}}")
    except OSError:
        continue


def add_one(x):
    return x + 1
