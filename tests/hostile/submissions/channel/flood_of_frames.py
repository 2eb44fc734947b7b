"""expect: rejected. Sends well-formed answers without end, for the judge to store."""

import json
import os
import stat
import struct

manifest = json.dumps({"ok": True, "values": {}}).encode()
frames = (struct.pack("!IQ", len(manifest), 0) + manifest) * 1000
for descriptor in range(3, 256):
    try:
        while stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            os.write(descriptor, frames)
    except OSError:
        continue


def add_one(x):
    return x + 1
