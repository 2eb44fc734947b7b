"""expect: accepted; pair: pairs/locks_left. Listens on a lock of a file that both can read."""

import fcntl
import os
import time

for _ in range(30):
    try:
        descriptor = os.open(os.__file__, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    except BlockingIOError:
        print("CROSSED: heard the other")
    except OSError:
        pass
    time.sleep(0.05)


def add_one(x):
    return x + 1
