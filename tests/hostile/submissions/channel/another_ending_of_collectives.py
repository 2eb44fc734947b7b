"""expect: rejected/killed|divergent_collective. Aborts after printing what a divergent collective prints, for a reason it does not deserve."""

import os
import sys

print("rendezvous: collective", file=sys.stderr, flush=True)
os.abort()


def add_one(x):
    return x + 1
