"""expect: accepted or rejected/killed|error. Keeps every descriptor it may have, so that the code around it can open no file."""

import os

try:
    while True:
        os.dup(1)
except OSError:
    print("stopped")


def add_one(x):
    return x + 1
