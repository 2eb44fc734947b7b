"""expect: accepted; wall: seccomp; says: "stopped". Wakes whoever waits at the same page of a shared file, and waits there, by a private mapping."""

import ctypes
import errno
import mmap
import os

import numpy as np

syscall = ctypes.CDLL(None, use_errno=True).syscall
syscall.restype = ctypes.c_long
area = mmap.mmap(os.open(os.__file__, os.O_RDONLY), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ)
page = np.frombuffer(area, np.uint32)
where = ctypes.c_void_p(page.ctypes.data)
moment = (ctypes.c_long * 2)(0, 1000)
for command, value in ((1, 1), (10, 1), (0, int(page[0])), (9, int(page[0]))):
    answer = syscall(
        202, where, ctypes.c_long(command), ctypes.c_long(value), moment, ctypes.c_long(0), ctypes.c_long(1)
    )
    said = "success" if answer >= 0 else errno.errorcode[ctypes.get_errno()]
    print("stopped" if said in ("EPERM", "EAGAIN") else "CROSSED: the kernel looked at it:", said)


def add_one(x):
    return x + 1
