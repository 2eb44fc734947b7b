"""expect: rejected/time_limit. Announces more than it sends, and waits."""

import os
import struct
import time

for descriptor in range(3, 256):
    try:
        os.write(descriptor, struct.pack("!IQ", 1000, 1000) + b"{")
    except OSError:
        continue
time.sleep(600)


def add_one(x):
    return x + 1
