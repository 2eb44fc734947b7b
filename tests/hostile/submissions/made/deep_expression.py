"""expect: rejected/syntax_error|killed|error|memory_limit|time_limit. Nests so deep that a compiler runs out of stack."""


def make():
    return "x = " + "-" * 1_000_000 + "1\ndef add_one(x):\n    return x + 1\n"
