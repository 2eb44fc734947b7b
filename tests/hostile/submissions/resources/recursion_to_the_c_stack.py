"""expect: rejected/killed|memory_limit|time_limit|error. Has the C library recurse, where Python counts no calls, until the stack is used up."""

import ctypes

# The C library parses each bracket by a call of its own.
ctypes.CDLL(None).regcomp(ctypes.create_string_buffer(1024), b"(" * 10_000_000, 1)


def add_one(x):
    return x + 1
