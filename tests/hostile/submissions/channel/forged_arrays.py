"""expect: rejected. Sends frames with results of its own for every case, in advance."""

import json
import os
import stat
import struct

import numpy as np

node = {"t": "array", "dtype": "float32", "shape": [2]}
manifest = json.dumps({"ok": True, "values": {"result": node, "observed": {"t": "list", "items": []}}}).encode()
payload = np.asarray([2, 3], np.float32).tobytes()
frame = struct.pack("!IQ", len(manifest), len(payload)) + manifest + payload
for descriptor in range(3, 256):
    try:
        if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            os.write(descriptor, frame * 4)
    except OSError:
        continue


def add_one(x):
    return x + 1
