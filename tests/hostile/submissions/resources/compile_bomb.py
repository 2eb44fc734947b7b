"""expect: rejected/time_limit|memory_limit. Writes a regular expression and a number that take forever in C."""

import re

re.match(r"(a+)+$", "a" * 40 + "b")


def add_one(x):
    return x + 1
