"""expect: accepted or rejected/memory_limit|time_limit. Has Python's compiler fold a power of powers."""


def make():
    return "y = lambda: 9 ** 9 ** 9 ** 2\ndef add_one(x):\n    return x + 1\n"
