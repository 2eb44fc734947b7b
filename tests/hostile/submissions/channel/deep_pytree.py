"""expect: rejected/error; says: "RecursionError". Returns lists in lists, five hundred deep."""


def add_one(x):
    for _ in range(500):
        x = [x]
    return x
