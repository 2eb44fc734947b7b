"""expect: rejected/time_limit; says: "waiting". Waits for a lock that it holds."""

import threading

lock = threading.Lock()
lock.acquire()
lock.acquire()


def add_one(x):
    return x + 1
