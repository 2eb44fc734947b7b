"""expect: accepted; wall: rlimits, seccomp; says: "stopped". Locks its memory, so that the machine cannot put it away."""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
area = ctypes.create_string_buffer(1 << 20)
for lock in (lambda: libc.mlock(area, 1 << 20), lambda: libc.mlockall(3)):
    print("stopped" if lock() != 0 else "CROSSED: locked memory")


def add_one(x):
    return x + 1
