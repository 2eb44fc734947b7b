"""expect: rejected/time_limit; says: "waiting". Sleeps."""

import time

time.sleep(600)


def add_one(x):
    return x + 1
