"""expect: accepted; wall: seccomp; says: "stopped". Waits at several futexes, whose flags are in memory, where no filter sees them."""

import ctypes
import errno

syscall = ctypes.CDLL(None, use_errno=True).syscall
syscall.restype = ctypes.c_long
answer = syscall(449, *map(ctypes.c_long, (0, 0, 0, 0, 0)))
said = "success" if answer >= 0 else errno.errorcode[ctypes.get_errno()]
print("stopped" if said in ("EPERM", "ENOSYS") else "CROSSED: the kernel looked at it:", said)


def add_one(x):
    return x + 1
