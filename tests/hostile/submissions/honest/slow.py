"""expect: accepted. Takes its time, but no more than it has."""

import time

started = time.process_time()
while time.process_time() - started < 1:
    pass


def add_one(x):
    return x + 1
