"""expect: rejected. Sends a fault whose reason and detail the judge never gives."""

import json
import os
import struct

detail = {
    "type": "x" * 10**5,
    "traceback": [{"line": True, "function": [], "text": {}}] * 50,
    "line": -1,
    "passed": True,
}
reply = {"ok": False, "reason": "accepted", "message": "\0\ud800", "detail": detail, "score": 100, "values": {}}
manifest = json.dumps(reply).encode()
for descriptor in range(3, 256):
    try:
        os.write(descriptor, struct.pack("!IQ", len(manifest), 0) + manifest)
    except OSError:
        continue


def add_one(x):
    return x + 1
