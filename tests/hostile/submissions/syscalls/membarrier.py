"""expect: accepted; wall: seccomp; says: "stopped". Has all processors of the machine pause, for others to feel."""

import ctypes
import errno

syscall = ctypes.CDLL(None, use_errno=True).syscall
syscall.restype = ctypes.c_long
answer = syscall(324, *map(ctypes.c_long, (2, 0, 0)))  # MEMBARRIER_CMD_GLOBAL_EXPEDITED
said = "success" if answer >= 0 else errno.errorcode[ctypes.get_errno()]
print("stopped" if said in ("EPERM", "ENOSYS") else "CROSSED: the kernel looked at it:", said)


def add_one(x):
    return x + 1
