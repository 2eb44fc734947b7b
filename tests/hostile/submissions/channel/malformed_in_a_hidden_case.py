"""expect: rejected/error. Sends an empty array of 2**62 rows once the public case has passed."""

import json
import os
import stat
import struct

calls = []


def add_one(x):
    calls.append(None)
    node = {"t": "array", "dtype": "float32", "shape": [2**62, 0]}
    manifest = json.dumps({"ok": True, "values": {"result": node}}).encode()
    for descriptor in range(3, 256 if len(calls) > 1 else 0):
        try:
            if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                os.write(descriptor, struct.pack("!IQ", len(manifest), 0) + manifest)
        except OSError:
            continue
    return x + 1
