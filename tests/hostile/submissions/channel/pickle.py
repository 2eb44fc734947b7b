"""expect: rejected/error; says: "result channel". Sends what would run a command if it were unpickled."""

import os
import pickle
import struct


class Payload:
    def __reduce__(self):
        return print, ("CROSSED: unpickled",)


data = pickle.dumps(Payload())
for descriptor in range(3, 256):
    try:
        os.write(descriptor, struct.pack("!IQ", len(data), 0) + data)
    except OSError:
        continue


def add_one(x):
    return x + 1
