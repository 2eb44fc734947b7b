"""expect: accepted. Looks for what its own command line reveals."""

import sys

if len(sys.argv) > 1 or getattr(sys, "orig_argv", [])[6:]:
    print("arguments:", sys.argv, sys.orig_argv)


def add_one(x):
    return x + 1
