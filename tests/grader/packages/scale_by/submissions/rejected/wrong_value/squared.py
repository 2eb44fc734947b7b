"""You squared the factor."""

from variant import factor


def scale(x):
    return x * factor * factor
