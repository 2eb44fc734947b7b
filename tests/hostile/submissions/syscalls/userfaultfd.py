"""expect: accepted; wall: seccomp; says: "stopped". Takes page faults into its own hands, the classic helper of kernel exploits."""

import ctypes
import errno

syscall = ctypes.CDLL(None, use_errno=True).syscall
syscall.restype = ctypes.c_long
answer = syscall(323, ctypes.c_long(1))  # UFFD_USER_MODE_ONLY: what the kernel gives to everyone
said = "success" if answer >= 0 else errno.errorcode[ctypes.get_errno()]
print("stopped" if said in ("EPERM", "ENOSYS") else "CROSSED: the kernel looked at it:", said)


def add_one(x):
    return x + 1
