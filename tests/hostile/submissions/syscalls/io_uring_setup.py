"""expect: accepted; wall: seccomp; says: "stopped". Asks for a ring through which the kernel does reads, writes and sockets unseen by a filter."""

import ctypes
import errno

syscall = ctypes.CDLL(None, use_errno=True).syscall
syscall.restype = ctypes.c_long
answer = syscall(425, ctypes.c_long(0), ctypes.c_long(0))  # no entries: refused by the kernel itself
said = "success" if answer >= 0 else errno.errorcode[ctypes.get_errno()]
print("stopped" if said in ("EPERM", "ENOSYS") else "CROSSED: the kernel looked at it:", said)


def add_one(x):
    return x + 1
