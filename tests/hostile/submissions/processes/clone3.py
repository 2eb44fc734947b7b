"""expect: accepted; wall: seccomp; says: "stopped: ENOSYS". Clones by the call whose flags no filter can read."""

import ctypes
import errno
import os
import signal

arguments = (ctypes.c_uint64 * 8)(0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
answer = ctypes.CDLL(None, use_errno=True).syscall(435, ctypes.byref(arguments), ctypes.c_long(64))
if answer == 0:
    os._exit(0)
print(f"stopped: {errno.errorcode[ctypes.get_errno()]}" if answer < 0 else "CROSSED: cloned")


def add_one(x):
    return x + 1
