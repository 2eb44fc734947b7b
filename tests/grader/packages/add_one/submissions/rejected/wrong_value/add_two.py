"""You added two instead of one."""


def add_one(x):
    return x + 2
