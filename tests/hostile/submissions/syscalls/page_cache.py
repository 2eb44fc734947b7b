"""expect: accepted; wall: seccomp; says: "stopped". Reads a shared file ahead, asks what of it is in memory and reads only that, writes it out."""

import ctypes
import errno
import os

syscall = ctypes.CDLL(None, use_errno=True).syscall
syscall.restype = ctypes.c_long
file = os.open(os.__file__, os.O_RDONLY)
# readahead, preadv2 with RWF_NOWAIT, sync_file_range, cachestat
for number, arguments in ((187, (0, 4096)), (327, (0, 0, 0, 0, 8)), (277, (0, 4096, 0)), (451, (0, 0, 0))):
    answer = syscall(number, ctypes.c_long(file), *map(ctypes.c_long, arguments))
    said = "success" if answer >= 0 else errno.errorcode[ctypes.get_errno()]
    print("stopped" if said in ("EPERM", "ENOSYS") else "CROSSED: the kernel looked at it:", said)


def add_one(x):
    return x + 1
