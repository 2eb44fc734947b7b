"""expect: rejected/output_limit. Floods only once its output is no longer kept."""

import os

calls = []


def add_one(x):
    calls.append(None)
    while len(calls) > 1:
        os.write(1, b"x" * 65536)
    return x + 1
