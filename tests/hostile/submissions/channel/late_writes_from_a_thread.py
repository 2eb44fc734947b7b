"""expect: rejected. Leaves a thread behind that writes to the channel while later cases run."""

import os
import stat
import threading
import time


def scribble():
    while True:
        for descriptor in range(3, 64):
            try:
                if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                    os.write(descriptor, b"A" * 64)
            except OSError:
                continue
        time.sleep(0.001)


calls = []


def add_one(x):
    calls.append(None)
    if len(calls) == 2:
        threading.Thread(target=scribble, daemon=True).start()
        time.sleep(0.2)
    return x + 1
