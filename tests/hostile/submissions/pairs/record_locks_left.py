"""expect: accepted; pair: pairs/record_locks_right. Holds a lock for reading on a part of a file that both can read."""

import fcntl
import os
import time

try:
    fcntl.lockf(os.open(os.__file__, os.O_RDONLY), fcntl.LOCK_SH | fcntl.LOCK_NB, 1, 77)
except OSError:
    print("stopped")
time.sleep(1.5)


def add_one(x):
    return x + 1
