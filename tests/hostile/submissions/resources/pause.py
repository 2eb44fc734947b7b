"""expect: accepted. Waits for a signal that does not come, in a call that a Python program does not need."""

import signal

signal.pause()


def add_one(x):
    return x + 1
