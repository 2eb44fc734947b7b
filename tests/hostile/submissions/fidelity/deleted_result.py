"""expect: rejected/error. Returns an array that it has deleted."""


def add_one(x):
    result = x + 1
    result.delete()
    return result
