"""expect: accepted; wall: seccomp; says: "stopped". Hides namespace flags among those of a thread."""

import ctypes
import errno

THREAD = 0x00010000 | 0x00000100 | 0x00000800  # CLONE_THREAD | CLONE_VM | CLONE_SIGHAND
libc = ctypes.CDLL(None, use_errno=True)
# A thread may not have a user namespace of its own, so the kernel says EINVAL: but it has been asked.
libc.syscall(56, *map(ctypes.c_long, (THREAD | 0x10000000, 0, 0, 0, 0)))
said = errno.errorcode[ctypes.get_errno()]
print("stopped" if said == "EPERM" else f"CROSSED: the kernel looked at it: {said}")


def add_one(x):
    return x + 1
