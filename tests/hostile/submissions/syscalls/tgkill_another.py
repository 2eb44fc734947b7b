"""expect: accepted; wall: seccomp; says: "stopped". Signals a thread of another process by its number."""

import ctypes
import errno

syscall = ctypes.CDLL(None, use_errno=True).syscall
syscall.restype = ctypes.c_long
answer = syscall(234, ctypes.c_long(0x3FFFFE), ctypes.c_long(0x3FFFFF), ctypes.c_long(0))
said = "success" if answer >= 0 else errno.errorcode[ctypes.get_errno()]
print("stopped" if said in ("EPERM", "ENOSYS") else "CROSSED: the kernel looked at it:", said)


def add_one(x):
    return x + 1
