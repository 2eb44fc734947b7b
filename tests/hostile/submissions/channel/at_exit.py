"""expect: accepted. Acts at the end of the process: exit handlers, finalizers, modules torn down."""

import atexit
import os
import time
import weakref


class Last:
    def __del__(self):
        os.write(1, b"CROSSED: ran a finalizer at the end\n")
        time.sleep(600)


last = Last()
weakref.finalize(last, time.sleep, 600)
atexit.register(time.sleep, 600)


def add_one(x):
    return x + 1
