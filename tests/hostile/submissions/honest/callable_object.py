"""expect: accepted. Defines its entry point as an object that can be called."""

import functools


def add(amount, x):
    return x + amount


add_one = functools.partial(add, 1)
