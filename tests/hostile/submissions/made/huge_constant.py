"""expect: rejected/syntax_error|time_limit|memory_limit. Writes a number whose digits take forever to read."""


def make():
    return f"x = {'9' * 900_000}\ndef add_one(x):\n    return x + 1\n"
