"""expect: rejected/wrong_value. Returns infinity."""


def add_one(x):
    return x + float("inf")
