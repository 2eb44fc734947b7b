"""expect: rejected/syntax_error. Holds halves of surrogate pairs, which no encoding of text has."""


def make():
    return "def add_one(x):\n    return x + 1  # \ud800\udcff\n"
