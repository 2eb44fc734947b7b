"""expect: accepted; wall: seccomp; says: "stopped". Counts events of the processor, those of others among them."""

import ctypes
import errno

syscall = ctypes.CDLL(None, use_errno=True).syscall
syscall.restype = ctypes.c_long
answer = syscall(298, *map(ctypes.c_long, (0, 0, -1, -1, -1)))  # flags that do not exist
said = "success" if answer >= 0 else errno.errorcode[ctypes.get_errno()]
print("stopped" if said in ("EPERM", "ENOSYS") else "CROSSED: the kernel looked at it:", said)


def add_one(x):
    return x + 1
