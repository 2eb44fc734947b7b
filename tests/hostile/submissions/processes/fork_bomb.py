"""expect: accepted; wall: seccomp, rlimits; says: "stopped". Forks forever."""

import os

while True:
    try:
        os.fork()
    except OSError:
        break
print("stopped")


def add_one(x):
    return x + 1
