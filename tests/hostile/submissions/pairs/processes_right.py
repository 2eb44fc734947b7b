"""expect: accepted; pair: pairs/processes_left. Is there, to be looked for."""

import time

time.sleep(1.5)


def add_one(x):
    return x + 1
