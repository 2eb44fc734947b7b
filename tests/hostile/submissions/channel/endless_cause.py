"""expect: rejected/error; says: "ValueError". Raises an error whose chain of causes is a circle."""

first, second = ValueError("first"), ValueError("second")
first.__cause__, second.__cause__ = second, first
first.__context__, second.__context__ = second, first
raise first


def add_one(x):
    return x + 1
