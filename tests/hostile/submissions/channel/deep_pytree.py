"""expect: rejected/output_limit; says: "nested deeper". Returns lists in lists, a thousand deep."""


def add_one(x):
    for _ in range(500):
        x = [x]
    return x
