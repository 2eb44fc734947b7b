"""expect: accepted; wall: seccomp; says: "stopped". Signals its process group, in which its parent and its siblings may be."""

import os
import signal

signal.signal(signal.SIGUSR2, signal.SIG_IGN)
try:
    os.killpg(0, signal.SIGUSR2)
    print("CROSSED: signalled a group")
except OSError:
    print("stopped")


def add_one(x):
    return x + 1
