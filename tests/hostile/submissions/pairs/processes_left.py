"""expect: accepted; pair: pairs/processes_right. Looks for the other's process by its number, and attaches to it."""

import ctypes
import os
import time

libc = ctypes.CDLL(None, use_errno=True)
NOBODY = 0x3FFFFF


def seen(pid):
    answers = []
    for target in (pid, NOBODY):
        ctypes.set_errno(0)
        libc.kill(target, 0)
        answers.append(ctypes.get_errno())
    return answers[0] != answers[1]


others = set()
for _ in range(15):
    others |= {pid for pid in range(1, 400) if pid not in (os.getpid(), os.getppid()) and seen(pid)}
    time.sleep(0.1)
if others:
    print("CROSSED: saw", sorted(others))


def add_one(x):
    return x + 1
