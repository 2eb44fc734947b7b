"""You doubled x instead of adding one."""


def add_one(x):
    return x * 2
