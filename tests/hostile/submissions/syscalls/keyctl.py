"""expect: accepted; wall: seccomp; says: "stopped". Asks for the keyring of the session, which namespaces do not divide."""

import ctypes
import errno

syscall = ctypes.CDLL(None, use_errno=True).syscall
syscall.restype = ctypes.c_long
answer = syscall(250, ctypes.c_long(0), ctypes.c_long(-3), ctypes.c_long(1))  # KEYCTL_GET_KEYRING_ID
said = "success" if answer >= 0 else errno.errorcode[ctypes.get_errno()]
print("stopped" if said in ("EPERM", "ENOSYS") else "CROSSED: the kernel looked at it:", said)


def add_one(x):
    return x + 1
