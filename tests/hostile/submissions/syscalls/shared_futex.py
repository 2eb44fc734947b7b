"""expect: accepted; wall: seccomp; says: "stopped". Waits at a page of a shared file and is woken through another mapping of it, as any process that maps it could do."""

import ctypes
import mmap
import os
import threading
import time

import numpy as np

syscall = ctypes.CDLL(None, use_errno=True).syscall
syscall.restype = ctypes.c_long
file = os.open(os.__file__, os.O_RDONLY)
maps = [np.frombuffer(mmap.mmap(file, 4096, mmap.MAP_PRIVATE, mmap.PROT_READ), np.uint32) for _ in range(2)]
here, there = (ctypes.c_void_p(page.ctypes.data) for page in maps)
moment = (ctypes.c_long * 2)(1, 0)
waiting = threading.Thread(
    target=syscall, args=(202, here, 0, ctypes.c_uint32(int(maps[0][0])), moment, None, ctypes.c_long(0))
)
waiting.start()
time.sleep(0.3)
woken = syscall(202, there, 1, 1, None, None, ctypes.c_long(0))
print("stopped" if woken <= 0 else "CROSSED: somebody was woken")
waiting.join()


def add_one(x):
    return x + 1
