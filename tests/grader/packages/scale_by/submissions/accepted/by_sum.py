"""Adds up instead of multiplying."""

import variant


def scale(x):
    return sum(x for _ in range(variant.factor))
