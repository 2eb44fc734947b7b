"""expect: rejected/wrong_value. Looks right to a reader, by characters that write backwards."""


def make():
    return "def add_one(x):\n    return x  # \u202e 1 + x nruter \u2066\n"
