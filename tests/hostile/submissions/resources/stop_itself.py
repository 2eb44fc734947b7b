"""expect: rejected/time_limit. Stops its own process, so that it can neither go on nor be told to end."""

import os
import signal

os.kill(os.getpid(), signal.SIGSTOP)


def add_one(x):
    return x + 1
