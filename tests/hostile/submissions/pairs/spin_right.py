"""expect: accepted; pair: pairs/spin_left. Waits and works while the other one spins: it is not charged for that."""

import time

time.sleep(2)


def add_one(x):
    return x + 1
