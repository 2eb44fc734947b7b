"""expect: accepted; wall: seccomp; says: "stopped". Opens a socket without Python's module."""

import ctypes
import errno

syscall = ctypes.CDLL(None, use_errno=True).syscall
syscall.restype = ctypes.c_long
answer = syscall(41, ctypes.c_long(1), ctypes.c_long(1), ctypes.c_long(0))  # AF_UNIX, SOCK_STREAM
said = "success" if answer >= 0 else errno.errorcode[ctypes.get_errno()]
print("stopped" if said in ("EPERM", "ENOSYS") else "CROSSED: the kernel looked at it:", said)


def add_one(x):
    return x + 1
