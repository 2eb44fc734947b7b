"""expect: rejected/wrong_value. Rewrites our packing code so that everything comes out as zeros."""

import sys

import numpy as np

wire = sys.modules["grader.core.wire"]
pack = wire.pack


def lie(message, values=None, **options):
    if values and "result" in values:
        values = {**values, "result": np.zeros(2, np.float32)}
    return pack(message, values, **options)


wire.pack = lie


def add_one(x):
    return x + 1
