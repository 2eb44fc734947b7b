"""expect: accepted; wall: seccomp; says: "stopped". Makes System V shared memory that outlives its process."""

import ctypes
import errno

syscall = ctypes.CDLL(None, use_errno=True).syscall
syscall.restype = ctypes.c_long
answer = syscall(29, ctypes.c_long(0), ctypes.c_long(4096), ctypes.c_long(0o1600))  # IPC_PRIVATE
said = "success" if answer >= 0 else errno.errorcode[ctypes.get_errno()]
print("stopped" if said in ("EPERM", "ENOSYS") else "CROSSED: the kernel looked at it:", said)


def add_one(x):
    return x + 1
