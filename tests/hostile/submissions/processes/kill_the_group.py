"""expect: accepted; wall: seccomp; says: "stopped". Signals its process group, in which its parent and its siblings may be."""

import os
import signal

signal.signal(signal.SIGUSR2, signal.SIG_IGN)
for group in (0, os.getpgid(os.getppid()) if os.getppid() else 1):
    try:
        os.killpg(group, signal.SIGUSR2)
        print("CROSSED: signalled a group" if group != os.getpid() else "stopped")
    except OSError:
        print("stopped")


def add_one(x):
    return x + 1
