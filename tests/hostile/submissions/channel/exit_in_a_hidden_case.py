"""expect: rejected/killed. Ends the process after the public case has passed."""

import os

calls = []


def add_one(x):
    calls.append(None)
    if len(calls) > 1:
        os._exit(0)
    return x + 1
