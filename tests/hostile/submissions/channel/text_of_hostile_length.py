"""expect: rejected/error. Raises an error whose text is ten million half characters."""


def add_one(x):
    raise ValueError("\ud800\0\x1b" * 3_000_000)
