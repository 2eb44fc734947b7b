"""expect: rejected/wrong_structure. Returns numbers where an array is asked for."""


def add_one(x):
    return [float(value) + 1 for value in x]
