"""expect: rejected. Steals the judge's next request before the runner reads it."""

import os
import stat
import threading


def steal(descriptor):
    while True:
        try:
            os.read(descriptor, 1 << 16)
        except OSError:
            return


def add_one(x):
    for descriptor in range(3, 64):
        try:
            if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                for _ in range(8):
                    threading.Thread(target=steal, args=(descriptor,), daemon=True).start()
        except OSError:
            continue
    return x + 2
