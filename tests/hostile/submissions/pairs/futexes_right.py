"""expect: accepted; pair: pairs/futexes_left. Waits at a page of a file that both can read until the other one wakes it."""

import ctypes
import errno
import mmap
import os
import time

import numpy as np

libc = ctypes.CDLL(None, use_errno=True)
area = mmap.mmap(os.open(os.__file__, os.O_RDONLY), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ)
page = np.frombuffer(area, np.uint32)
where = ctypes.c_void_p(page.ctypes.data)
moment = (ctypes.c_long * 2)(0, 50_000_000)
for _ in range(30):
    if libc.syscall(202, where, 0, ctypes.c_uint32(int(page[0])), moment, None, 0) == 0:
        print("CROSSED: was woken")
        break
    if ctypes.get_errno() != errno.ETIMEDOUT:
        time.sleep(0.05)


def add_one(x):
    return x + 1
