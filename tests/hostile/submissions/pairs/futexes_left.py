"""expect: accepted; pair: pairs/futexes_right. Wakes a process that waits at a page of a file that both can read, directly and by threads that end there."""

import _thread
import ctypes
import mmap
import os
import time

import numpy as np

libc = ctypes.CDLL(None, use_errno=True)
area = mmap.mmap(os.open(os.__file__, os.O_RDONLY), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ)
where = ctypes.c_void_p(np.frombuffer(area, np.uint32).ctypes.data)
for _ in range(30):
    libc.syscall(202, where, 1, 1, None, None, 0)
    # The kernel clears the word that set_tid_address names when the thread ends, and wakes who waits there.
    # So nothing in this process can wait for it: since Python 3.13, Thread.join would be such a wait.
    _thread.start_new_thread(libc.syscall, (218, where))
    time.sleep(0.05)


def add_one(x):
    return x + 1
