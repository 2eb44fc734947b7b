"""expect: accepted or rejected/syntax_error|memory_limit|time_limit|output_limit|error. Is ten megabytes long."""


def make():
    return "x = 1\n" * 1_700_000 + "def add_one(x):\n    return x + 1\n"
