"""expect: accepted; pair: pairs/signals_left. Works on while the other one shoots about."""

import time


def add_one(x):
    time.sleep(1)
    return x + 1
