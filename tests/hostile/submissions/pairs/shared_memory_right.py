"""expect: accepted; pair: pairs/shared_memory_left. Reads System V shared memory under a number both know."""

import ctypes
import time

libc = ctypes.CDLL(None, use_errno=True)
for _ in range(30):
    if libc.shmget(0x4D47, 0, 0) >= 0:
        print("CROSSED: found the other's memory")
    time.sleep(0.05)


def add_one(x):
    return x + 1
