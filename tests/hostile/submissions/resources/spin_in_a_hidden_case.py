"""expect: rejected/time_limit. Spins only when it is not the public case."""

calls = []


def add_one(x):
    calls.append(None)
    while len(calls) > 1:
        pass
    return x + 1
