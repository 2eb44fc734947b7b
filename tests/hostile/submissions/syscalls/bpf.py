"""expect: accepted; wall: seccomp; says: "stopped". Loads a program into the kernel."""

import ctypes
import errno

syscall = ctypes.CDLL(None, use_errno=True).syscall
syscall.restype = ctypes.c_long
# A size that the kernel refuses, but only after it has looked.
answer = syscall(321, *map(ctypes.c_long, (0, 0, 1 << 20)))
said = "success" if answer >= 0 else errno.errorcode[ctypes.get_errno()]
print("stopped" if said in ("EPERM", "ENOSYS") else "CROSSED: the kernel looked at it:", said)


def add_one(x):
    return x + 1
