"""expect: accepted; wall: seccomp; says: "stopped". Lets others of its user read its memory, where hidden inputs are."""

import ctypes

prctl = ctypes.CDLL(None, use_errno=True).prctl
PR_SET_DUMPABLE, PR_SET_PTRACER = 4, 0x59616D61
for option, value in ((PR_SET_DUMPABLE, 1), (PR_SET_PTRACER, -1)):
    print("CROSSED: can be traced" if prctl(option, ctypes.c_long(value), 0, 0, 0) == 0 else "stopped")


def add_one(x):
    return x + 1
