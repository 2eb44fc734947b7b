"""expect: rejected/time_limit; says: "was stopped after". Spins for ever."""

while True:
    pass


def add_one(x):
    return x + 1
