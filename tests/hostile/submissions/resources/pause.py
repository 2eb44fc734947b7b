"""expect: rejected/time_limit; says: "waiting". Waits for a signal that does not come."""

import signal

signal.pause()


def add_one(x):
    return x + 1
