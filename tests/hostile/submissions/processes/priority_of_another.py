"""expect: accepted; wall: seccomp, namespaces. Slows other processes of its user down, and itself up."""

import os

for which, who, value in ((os.PRIO_PROCESS, 1, 19), (os.PRIO_PROCESS, os.getppid(), 19), (os.PRIO_PROCESS, 0, -20)):
    try:
        before = os.getpriority(which, who)
        os.setpriority(which, who, value)
        if os.getpriority(which, who) != before:
            print("CROSSED: changed the priority of", who)
    except OSError as error:
        print("stopped:", error.strerror)


def add_one(x):
    return x + 1
