"""expect: accepted; pair: pairs/record_locks_left. Asks whose lock would be in its way, without taking one."""

import fcntl
import os
import struct
import time

file = os.open(os.__file__, os.O_RDONLY)
for _ in range(30):
    try:
        asked = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 77, 1, 0)
        kind, *_, holder = struct.unpack("hhqqi4x", fcntl.fcntl(file, fcntl.F_GETLK, asked))
        if kind != fcntl.F_UNLCK:
            print("CROSSED: heard the other, process", holder)
            break
    except OSError:
        pass
    time.sleep(0.05)


def add_one(x):
    return x + 1
