"""expect: accepted; wall: landlock, seccomp; says: "stopped". Starts a program by the C library's other door."""

import os
import sys

try:
    child = os.posix_spawn(sys.executable, [sys.executable, "-c", "pass"], {})
except OSError:
    print("stopped")
else:
    os.waitpid(child, 0)
    print("CROSSED: spawned")


def add_one(x):
    return x + 1
