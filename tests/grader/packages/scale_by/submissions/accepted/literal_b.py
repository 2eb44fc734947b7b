"""Writes the number of its variant into the code."""
# variants: b


def scale(x):
    return 5 * x
