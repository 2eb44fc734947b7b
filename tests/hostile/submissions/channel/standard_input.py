"""expect: accepted. Reads standard input, where a judge may have put the cases."""

import sys

if sys.stdin is not None and (found := sys.stdin.read()):
    print("CROSSED: read", found)


def add_one(x):
    return x + 1
