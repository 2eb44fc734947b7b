"""expect: rejected/time_limit; pair: pairs/spin_right. Spins."""

while True:
    pass


def add_one(x):
    return x + 1
