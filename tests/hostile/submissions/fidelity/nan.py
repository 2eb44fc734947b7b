"""expect: rejected/wrong_value; says: "NaN". Returns NaN, which no comparison calls different."""


def add_one(x):
    return x * float("nan")
