"""expect: accepted; wall: seccomp; says: "stopped". Attaches to another process as a debugger does."""

import ctypes
import errno

syscall = ctypes.CDLL(None, use_errno=True).syscall
syscall.restype = ctypes.c_long
answer = syscall(101, *map(ctypes.c_long, (16, 0x3FFFFF, 0, 0)))  # PTRACE_ATTACH to a process that is not there
said = "success" if answer >= 0 else errno.errorcode[ctypes.get_errno()]
print("stopped" if said in ("EPERM", "ENOSYS") else "CROSSED: the kernel looked at it:", said)


def add_one(x):
    return x + 1
