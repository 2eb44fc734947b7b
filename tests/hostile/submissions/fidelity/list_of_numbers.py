"""expect: rejected/wrong_structure. Returns numbers where an array is required."""


def add_one(x):
    return [float(value) + 1 for value in x]
