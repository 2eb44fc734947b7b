"""expect: rejected/time_limit; says: "3 s of CPU time". Spins for ever."""

while True:
    pass


def add_one(x):
    return x + 1
