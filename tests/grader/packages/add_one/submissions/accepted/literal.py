"""Adds one."""


def add_one(x):
    return 1 + x
