"""expect: rejected/syntax_error. Holds half of a surrogate pair, which no encoding of text has."""


def make():
    # The entry point must be a name.
    entry = "add_one"
    return f"def {entry}(x):\n    return x + 1  # \ud800\n"


def add_one(x):
    return x + 1
