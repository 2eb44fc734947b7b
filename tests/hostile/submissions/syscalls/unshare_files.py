"""expect: accepted; wall: seccomp; says: "stopped". Asks for descriptors and folders that are no longer shared with the other threads."""

import ctypes
import errno

CLONE_FS, CLONE_FILES = 0x200, 0x400
libc = ctypes.CDLL(None, use_errno=True)
for flag in (CLONE_FS, CLONE_FILES):
    said = "success" if libc.unshare(flag) == 0 else errno.errorcode[ctypes.get_errno()]
    print("stopped" if said == "EPERM" else f"CROSSED: the kernel looked at it: {said}")


def add_one(x):
    return x + 1
