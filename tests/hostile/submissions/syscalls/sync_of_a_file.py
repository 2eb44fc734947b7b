"""expect: accepted; wall: seccomp; says: "stopped". Has the host write its files out and feels how much there was."""

import ctypes
import errno

libc = ctypes.CDLL(None, use_errno=True)
# Of a descriptor that there is not: the kernel would say so.
answers = [libc.fsync(4000), libc.fdatasync(4000)]
print("stopped" if answers == [0, 0] else "CROSSED: the kernel looked at it:", errno.errorcode[ctypes.get_errno()])


def add_one(x):
    return x + 1
