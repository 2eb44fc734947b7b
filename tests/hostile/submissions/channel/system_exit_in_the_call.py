"""expect: rejected/error; says: "SystemExit". Exits politely when called."""

import sys


def add_one(x):
    sys.exit(0)
