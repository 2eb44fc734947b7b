"""expect: rejected/time_limit; says: "was stopped after". Spins forever."""

while True:
    pass


def add_one(x):
    return x + 1
