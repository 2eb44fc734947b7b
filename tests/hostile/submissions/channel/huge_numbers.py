"""expect: rejected/error; says: "result channel". Sends numbers that take forever to parse, and shapes whose size overflows."""

import os
import struct

manifests = [
    b'{"ok":true,"values":{"result":{"t":"array","dtype":"float32","shape":[%s]}}}'
    % b",".join([b"1099511627775"] * 16),
    b'{"ok":true,"values":{"result":{"t":"int","v":"%s"}}}' % (b"9" * 500_000),
    b'{"ok":true,"values":{"result":{"t":"array","dtype":"float32","shape":[%s]}}}' % (b"9" * 500_000),
]
for descriptor in range(3, 256):
    for manifest in manifests:
        try:
            os.write(descriptor, struct.pack("!IQ", len(manifest), 0) + manifest)
        except OSError:
            continue


def add_one(x):
    return x + 1
