"""expect: rejected/wrong_structure. Returns an integer that takes minutes to print."""


def add_one(x):
    return 1 << 40_000_000
