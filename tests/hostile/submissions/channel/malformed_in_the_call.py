"""expect: rejected/error; says: "result channel". Sends a manifest that is not JSON while it is called with the first case."""

import os
import stat
import struct


def add_one(x):
    for descriptor in range(3, 256):
        try:
            if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                os.write(descriptor, struct.pack("!IQ", 9, 0) + b"\xff\xfe\0not{}}")
        except OSError:
            continue
    return x + 1
