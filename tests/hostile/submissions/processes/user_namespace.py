"""expect: accepted; wall: seccomp; says: "stopped". Clones into a user namespace, in which it would be root and could mount."""

import ctypes
import os
import signal

CLONE_NEWUSER, CLONE_NEWNS = 0x10000000, 0x00020000
answer = ctypes.CDLL(None, use_errno=True).syscall(
    56, *map(ctypes.c_long, (CLONE_NEWUSER | CLONE_NEWNS | signal.SIGCHLD, 0, 0, 0, 0))
)
if answer == 0:
    os._exit(0)
print("stopped" if answer < 0 else "CROSSED: is root in a namespace of its own")


def add_one(x):
    return x + 1
