"""expect: accepted; wall: seccomp; says: "stopped". Watches whole mounts."""

import ctypes
import errno

syscall = ctypes.CDLL(None, use_errno=True).syscall
syscall.restype = ctypes.c_long
answer = syscall(300, ctypes.c_long(0x200), ctypes.c_long(0))  # FAN_REPORT_FID: what the kernel gives to everyone
said = "success" if answer >= 0 else errno.errorcode[ctypes.get_errno()]
print("stopped" if said in ("EPERM", "ENOSYS") else "CROSSED: the kernel looked at it:", said)


def add_one(x):
    return x + 1
