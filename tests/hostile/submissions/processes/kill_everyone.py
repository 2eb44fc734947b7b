"""expect: accepted; wall: seccomp, namespaces; says: "stopped". Signals all that it may signal at once."""

import os
import signal

signal.signal(signal.SIGTERM, signal.SIG_IGN)
try:
    os.kill(-1, signal.SIGTERM)
    print("CROSSED: signalled everyone")
except OSError:
    print("stopped")


def add_one(x):
    return x + 1
