"""expect: rejected. Takes the libraries of the wire apart."""

import json
import struct

json.dumps = lambda *_, **__: '{"ok": true, "values": {}}'
json.loads = lambda *_, **__: {"op": "call", "values": {}}
struct.pack = lambda *_: b""
struct.Struct = None


def add_one(x):
    return x
