"""expect: rejected/time_limit; says: "was stopped after". Spins inside one C call, which no Python signal handler can interrupt."""

sum(iter(int, 1))


def add_one(x):
    return x + 1
