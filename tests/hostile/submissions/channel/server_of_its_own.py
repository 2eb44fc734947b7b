"""expect: rejected/wrong_value. Replaces the runner and answers the judge itself: its results are compared anyway."""

import json
import os
import stat
import struct

import numpy as np


def channel():
    for descriptor in range(3, 256):
        try:
            if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                return descriptor
        except OSError:
            continue


def add_one(x):
    node = {"t": "array", "dtype": "float32", "shape": [2]}
    manifest = json.dumps({"ok": True, "values": {"result": node, "observed": {"t": "list", "items": []}}}).encode()
    payload = (np.asarray(x) * 2).tobytes()
    descriptor = channel()
    while True:
        os.write(descriptor, struct.pack("!IQ", len(manifest), len(payload)) + manifest + payload)
        if not os.read(descriptor, 1 << 20):
            os._exit(0)
