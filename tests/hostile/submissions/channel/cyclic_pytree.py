"""expect: rejected/error; says: "RecursionError". Returns a list that contains itself."""


def add_one(x):
    result = [x + 1]
    result.append(result)
    return result
