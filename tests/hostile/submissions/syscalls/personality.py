"""expect: accepted; wall: seccomp; says: "stopped". Switches address randomisation off and makes data executable."""

import ctypes
import errno

syscall = ctypes.CDLL(None, use_errno=True).syscall
syscall.restype = ctypes.c_long
answer = syscall(135, ctypes.c_long(0x0040000))  # ADDR_NO_RANDOMIZE
said = "success" if answer >= 0 else errno.errorcode[ctypes.get_errno()]
print("stopped" if said in ("EPERM", "ENOSYS") else "CROSSED: the kernel looked at it:", said)


def add_one(x):
    return x + 1
