"""expect: accepted; pair: pairs/locks_right. Signals through a lock on a file that both can read."""

import fcntl
import os
import time

try:
    fcntl.flock(os.open(os.__file__, os.O_RDONLY), fcntl.LOCK_EX)
except OSError:
    print("stopped")
time.sleep(1.5)


def add_one(x):
    return x + 1
