"""expect: accepted; wall: seccomp; says: "stopped". Makes a child process."""

import os

try:
    child = os.fork()
except OSError:
    print("stopped")
else:
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    print("CROSSED: forked")


def add_one(x):
    return x + 1
