"""expect: accepted; wall: seccomp; says: "stopped". Leaves a child in a session of its own, to live on after the verdict."""

import os
import time

try:
    child = os.fork()
except OSError:
    print("stopped")
else:
    if child == 0:
        os.setsid()
        time.sleep(600)
        os._exit(0)
    print("CROSSED: left a child behind")


def add_one(x):
    return x + 1
