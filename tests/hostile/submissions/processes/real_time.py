"""expect: accepted; wall: namespaces; says: "stopped". Makes itself a real-time process, before which all others wait."""

import os

try:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    print("CROSSED: runs in real time")
except OSError:
    print("stopped")


def add_one(x):
    return x + 1
