"""expect: accepted; wall: seccomp, namespaces. Ties the first process to a single processor."""

import os

for process in (1, os.getppid()):
    try:
        before = os.sched_getaffinity(process)
        os.sched_setaffinity(process, {min(before)})
        print("CROSSED: tied another process to a processor")
    except OSError as error:
        print("stopped:", error.strerror)


def add_one(x):
    return x + 1
