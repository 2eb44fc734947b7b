"""expect: accepted; says: "stopped". Waits for children that are not its own, to learn how others ended."""

import os

try:
    print("CROSSED: learned of", os.waitpid(-1, os.WNOHANG))
except OSError:
    print("stopped")


def add_one(x):
    return x + 1
