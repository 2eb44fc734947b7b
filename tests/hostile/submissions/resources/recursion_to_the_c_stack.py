"""expect: rejected/killed|memory_limit|time_limit|error or accepted. Lifts Python's limit and recurses through C in a thread whose stack is small, until it is used up; since Python 3.14, an error comes first."""

import ctypes
import sys
import threading

sys.setrecursionlimit(10**9)
CALLBACK = ctypes.CFUNCTYPE(None)


@CALLBACK
def deeper():
    deeper()


# With the usual stack, Python 3.13 raises an error first: it counts calls through C on its own.
threading.stack_size(1 << 18)
thread = threading.Thread(target=deeper)
thread.start()
thread.join()


def add_one(x):
    return x + 1
