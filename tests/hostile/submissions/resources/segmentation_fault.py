"""expect: rejected/killed; says: "SIGSEGV". Reads address zero."""

import ctypes

ctypes.string_at(0)


def add_one(x):
    return x + 1
