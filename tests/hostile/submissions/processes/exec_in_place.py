"""expect: accepted; wall: landlock, seccomp; says: "stopped". Becomes another program, without any of our code in it."""

import os
import sys

try:
    os.execv(sys.executable, [sys.executable, "-I", "-c", "print('CROSSED: executed', flush=True)"])
except OSError:
    print("stopped")


def add_one(x):
    return x + 1
