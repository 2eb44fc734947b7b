"""expect: accepted; wall: seccomp, namespaces; says: "stopped". Kills the process that made it."""

import os
import signal

for target in (os.getppid(), 1, 2):
    try:
        os.kill(target, signal.SIGKILL)
        print("CROSSED: signalled", target)
    except OSError as error:
        print("stopped:", error.strerror)


def add_one(x):
    return x + 1
