"""expect: rejected/syntax_error|killed|error|memory_limit|time_limit. Adds up 200,000 terms in one expression."""


def make():
    return "def add_one(x):\n    return x" + " + 1" * 200_000 + "\n"
