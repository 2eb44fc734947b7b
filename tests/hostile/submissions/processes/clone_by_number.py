"""expect: accepted; wall: seccomp; says: "stopped". Clones with the flags of a process instead of a thread."""

import ctypes
import os
import signal

answer = ctypes.CDLL(None, use_errno=True).syscall(56, *map(ctypes.c_long, (signal.SIGCHLD, 0, 0, 0, 0)))
if answer == 0:
    os._exit(0)
print("stopped" if answer < 0 else "CROSSED: cloned")


def add_one(x):
    return x + 1
