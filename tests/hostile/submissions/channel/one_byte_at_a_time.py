"""expect: rejected/time_limit. Sends a frame so slowly that each byte looks like progress."""

import os
import struct
import time

frame = struct.pack("!IQ", 1 << 19, 0)
while True:
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, frame[:1] or b" ")
        except OSError:
            continue
    frame = frame[1:]
    time.sleep(0.05)


def add_one(x):
    return x + 1
