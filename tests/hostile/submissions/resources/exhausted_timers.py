"""expect: accepted. Makes kernel timers until none can be made."""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
timers = 0
while timers < 200_000:
    made = ctypes.c_int()
    if libc.syscall(222, ctypes.c_long(0), None, ctypes.byref(made)) != 0:
        break
    timers += 1
print("stopped" if timers < 200_000 else "CROSSED: 200,000 timers")


def add_one(x):
    return x + 1
