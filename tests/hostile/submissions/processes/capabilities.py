"""expect: accepted; wall: namespaces. Looks whether it has kept any privilege of root."""

import ctypes

prctl = ctypes.CDLL(None, use_errno=True).prctl
libc = ctypes.CDLL(None, use_errno=True)
header = (ctypes.c_uint32 * 2)(0x20080522, 0)
data = (ctypes.c_uint32 * 6)()
if libc.syscall(125, header, data) == 0 and any(data):
    print("CROSSED: holds capabilities", list(data))


def add_one(x):
    return x + 1
