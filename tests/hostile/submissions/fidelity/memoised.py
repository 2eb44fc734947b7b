"""expect: rejected/wrong_value. Remembers its first answer."""

import functools


@functools.cache
def answer():
    return {}


def add_one(x):
    return answer().setdefault("first", x + 1)
