"""expect: accepted; wall: namespaces, seccomp; says: "stopped". Takes a lease on a shared file, so that a process that opens it waits."""

import fcntl
import os

try:
    fcntl.fcntl(os.open(os.__file__, os.O_RDONLY), 1024, 0)  # F_SETLEASE, F_RDLCK
    print("CROSSED: holds a lease")
except OSError:
    print("stopped")


def add_one(x):
    return x + 1
