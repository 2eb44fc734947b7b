"""expect: rejected/error; says: "result channel". Sends an array of objects, which are pointers."""

import os
import struct

manifest = b'{"ok":true,"values":{"result":{"t":"array","dtype":"object","shape":[1]}}}'
for descriptor in range(3, 256):
    try:
        os.write(descriptor, struct.pack("!IQ", len(manifest), 8) + manifest + b"\0" * 8)
    except OSError:
        continue


def add_one(x):
    return x + 1
