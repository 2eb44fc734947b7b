"""expect: accepted; wall: seccomp; says: "stopped". Asks how large the host's disk is, and how much of it is free."""

import os

for file in ("/usr/lib", os.__file__, os.open(os.__file__, os.O_RDONLY)):
    try:
        print("CROSSED:", os.statvfs(file))
    except OSError:
        print("stopped")


def add_one(x):
    return x + 1
