"""expect: rejected/killed; wall: rlimits; says: "SIGQUIT". Dies with a core dump, for whatever program the host hands those to."""

import os
import signal

os.kill(os.getpid(), signal.SIGQUIT)


def add_one(x):
    return x + 1
