"""expect: rejected. Answers in the runner's place on every descriptor, before it is asked."""

import json
import os
import struct

manifest = json.dumps({"ok": True, "values": {}}).encode()
for descriptor in range(3, 256):
    try:
        os.write(descriptor, struct.pack("!IQ", len(manifest), 0) + manifest)
    except OSError:
        continue


def add_one(x):
    return x + 1
