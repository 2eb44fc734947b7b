"""expect: accepted; wall: seccomp; says: "stopped". Sets timers that would interrupt the wait of its watcher."""

import signal

signal.signal(signal.SIGALRM, signal.SIG_IGN)
for clock in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF):
    try:
        signal.setitimer(clock, 1000, 1000)
        print("CROSSED: has a timer")
    except OSError:
        print("stopped")


def add_one(x):
    return x + 1
