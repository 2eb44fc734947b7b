"""expect: rejected/killed|memory_limit|time_limit|error. Lifts Python's limit and recurses through C until its stack is used up."""

import ctypes
import sys

sys.setrecursionlimit(10**9)
CALLBACK = ctypes.CFUNCTYPE(None)


@CALLBACK
def deeper():
    deeper()


deeper()


def add_one(x):
    return x + 1
