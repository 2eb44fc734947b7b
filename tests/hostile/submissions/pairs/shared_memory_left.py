"""expect: accepted; pair: pairs/shared_memory_right. Writes into System V shared memory under a number both know."""

import ctypes
import time

libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
segment = libc.shmget(0x4D47, 4096, 0o1666)
if segment >= 0:
    address = libc.shmat(segment, None, 0)
    if address not in (None, (1 << 64) - 1):
        ctypes.memset(address, 7, 16)
time.sleep(1.5)


def add_one(x):
    return x + 1
