"""expect: rejected/wrong_value. Returns NaN once nobody can be looking."""

calls = []


def add_one(x):
    calls.append(None)
    return x + 1 if len(calls) == 1 else x * float("nan")
