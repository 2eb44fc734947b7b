"""expect: accepted; wall: seccomp; says: "stopped". Asks which pages of a shared file are in memory, because somebody has read them."""

import ctypes
import mmap
import os

import numpy as np

libc = ctypes.CDLL(None, use_errno=True)
area = mmap.mmap(os.open(os.__file__, os.O_RDONLY), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ)
where = ctypes.c_void_p(np.frombuffer(area, np.uint8).ctypes.data)
answer = libc.mincore(where, ctypes.c_size_t(4096), ctypes.create_string_buffer(1))
print("stopped" if answer < 0 else "CROSSED: was told")


def add_one(x):
    return x + 1
