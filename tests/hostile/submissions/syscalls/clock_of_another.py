"""expect: accepted; wall: seccomp; says: "stopped". Reads the clocks that count what other processes compute."""

import os
import time

mine = {os.getpid()}
for pid in range(1, 40_000):
    if pid in mine:
        continue
    try:
        print("CROSSED: process", pid, "has computed for", time.clock_gettime((~pid << 3) | 2))
        break
    except OSError as error:
        if pid == 1:
            print("stopped", error.errno)


def add_one(x):
    return x + 1
