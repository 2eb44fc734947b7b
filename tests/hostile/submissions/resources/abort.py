"""expect: rejected/killed; says: "SIGABRT". Aborts, as a failed check in C++ does."""

import os

os.abort()


def add_one(x):
    return x + 1
