"""expect: accepted. Looks for descriptors that somebody forgot to close: a folder of the host, the judge's end, a socket of a sibling."""

import os
import stat

sockets = []
for descriptor in range(3, 1024):
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:
        continue
    if stat.S_ISSOCK(mode):
        sockets.append(descriptor)
    elif stat.S_ISDIR(mode) or stat.S_ISREG(mode) or stat.S_ISBLK(mode):
        print("CROSSED: holds descriptor", descriptor, oct(mode))
if len(sockets) > 1:
    print("CROSSED: holds sockets", sockets)


def add_one(x):
    return x + 1
