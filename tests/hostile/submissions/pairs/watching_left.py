"""expect: accepted; pair: pairs/watching_right. Watches a shared file for the other's reading it."""

import ctypes
import os
import time

libc = ctypes.CDLL(None, use_errno=True)
watch = libc.inotify_init1(os.O_NONBLOCK)
target = os.path.join(os.path.dirname(os.__file__), "this.py").encode()
if watch >= 0 and libc.inotify_add_watch(watch, target, 0x21) >= 0:
    for _ in range(30):
        time.sleep(0.05)
        try:
            os.read(watch, 4096)
        except OSError:
            continue
        print("CROSSED: saw somebody read a shared file")
        break
else:
    print("stopped")
    time.sleep(1.5)


def add_one(x):
    return x + 1
