"""expect: rejected/error; says: "RecursionError". Calls itself forever."""


def add_one(x):
    return add_one(x)
