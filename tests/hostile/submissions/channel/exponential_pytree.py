"""expect: rejected/output_limit|time_limit|memory_limit. Returns a small tree of shared lists that unfolds to a billion leaves."""


def add_one(x):
    for _ in range(30):
        x = [x, x]
    return x
