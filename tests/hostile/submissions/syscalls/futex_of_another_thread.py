"""expect: accepted; wall: seccomp; says: "stopped". Asks by a lock with priority inheritance which threads there are in the machine."""

import ctypes
import errno

syscall = ctypes.CDLL(None, use_errno=True).syscall
syscall.restype = ctypes.c_long
# Held by thread 1, says the word; the kernel answers ESRCH or EPERM for one that there is not.
word = ctypes.c_uint32(1)
moment = (ctypes.c_long * 2)(1, 0)
answer = syscall(
    202, ctypes.byref(word), ctypes.c_long(8 | 128), ctypes.c_long(0), moment, ctypes.c_long(0), ctypes.c_long(0)
)
said = "success" if answer >= 0 else errno.errorcode[ctypes.get_errno()]
print("stopped" if said == "EPERM" and word.value == 1 else "CROSSED: the kernel looked at it:", said)


def add_one(x):
    return x + 1
