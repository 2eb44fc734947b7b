"""expect: accepted; wall: seccomp; says: "stopped". Holds a lock on a file that all submissions share, to signal or to stall them."""

import fcntl
import os

try:
    fcntl.flock(os.open(os.__file__, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
    print("CROSSED: holds a lock")
except OSError:
    print("stopped")


def add_one(x):
    return x + 1
