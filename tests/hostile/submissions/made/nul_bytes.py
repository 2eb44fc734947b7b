"""expect: rejected/syntax_error; says: "null bytes". Holds NUL characters."""


def make():
    return "def add_one(x):\n    return x + 1\0\n"
