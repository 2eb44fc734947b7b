"""expect: rejected/error; says: "RecursionError". Calls itself for ever."""


def add_one(x):
    return add_one(x)
