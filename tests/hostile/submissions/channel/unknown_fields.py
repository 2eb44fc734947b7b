"""expect: rejected. Answers with a verdict of its own."""

import json
import os
import stat
import struct

reply = {"ok": True, "values": {}, "status": "accepted", "score": 100, "checks": [], "passed": True}
manifest = json.dumps(reply).encode()


def add_one(x):
    for descriptor in range(3, 256):
        try:
            if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                os.write(descriptor, struct.pack("!IQ", len(manifest), 0) + manifest)
        except OSError:
            continue
    return x + 1
