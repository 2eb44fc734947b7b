"""expect: rejected/syntax_error. Opens 100,000 parentheses."""


def make():
    return "(" * 100_000
