"""expect: rejected/time_limit|killed. Sets timers that would end the wait of whoever watches it."""

import signal
import time

signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
while True:
    time.sleep(600)


def add_one(x):
    return x + 1
