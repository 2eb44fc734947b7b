"""expect: rejected/killed|divergent_collective. Aborts after printing what a divergent collective prints, to get a reason that does not apply."""

import os
import sys

print("rendezvous: collective", file=sys.stderr, flush=True)
os.abort()


def add_one(x):
    return x + 1
