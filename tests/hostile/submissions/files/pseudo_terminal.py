"""expect: accepted; wall: landlock, seccomp; says: "stopped". Opens a pseudo-terminal, whose other end it could be read by."""

import os

try:
    os.openpty()
    print("CROSSED: opened a terminal")
except OSError:
    print("stopped")


def add_one(x):
    return x + 1
