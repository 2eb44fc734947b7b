"""expect: accepted; wall: seccomp; says: "stopped". Makes namespaces of its own, in which it would be root."""

import ctypes
import errno

syscall = ctypes.CDLL(None, use_errno=True).syscall
syscall.restype = ctypes.c_long
answer = syscall(272, ctypes.c_long(0))  # no flag at all: the kernel says yes to everyone
said = "success" if answer >= 0 else errno.errorcode[ctypes.get_errno()]
print("stopped" if said in ("EPERM", "ENOSYS") else "CROSSED: the kernel looked at it:", said)


def add_one(x):
    return x + 1
