"""expect: accepted; wall: seccomp; says: "stopped". Stops its own threads one by one, so that it can neither continue nor be asked to stop."""

import ctypes
import os
import signal
import threading

libc = ctypes.CDLL(None, use_errno=True)
for _ in range(3):
    answer = libc.syscall(234, *map(ctypes.c_long, (os.getpid(), threading.get_native_id(), signal.SIGSTOP)))
    print("stopped" if answer < 0 else "CROSSED: went on after its own stop")


def add_one(x):
    return x + 1
