"""expect: accepted; wall: seccomp; says: "stopped". Ends itself by a signal, as the watchdog would, to be reported as killed."""

import os
import signal

for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGXCPU):
    try:
        os.kill(os.getpid(), number)
    except OSError:
        print("stopped")


def add_one(x):
    return x + 1
