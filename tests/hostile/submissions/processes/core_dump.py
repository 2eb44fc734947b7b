"""expect: rejected/killed; wall: rlimits; says: "SIGSEGV". Dies by a signal that leaves a core dump, for whatever program the host hands those to."""

import ctypes

ctypes.memset(0, 1, 1)


def add_one(x):
    return x + 1
