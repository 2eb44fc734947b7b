"""expect: rejected/output_limit; says: "parts". Returns a million leaves."""


def add_one(x):
    return [1.0] * 1_000_000
