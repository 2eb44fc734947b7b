"""expect: accepted; wall: namespaces; says: "stopped". Reads the reference's answers, which the judge keeps."""

import os

try:
    print("CROSSED: listed", os.listdir("@cache@"))
except OSError:
    print("stopped")


def add_one(x):
    return x + 1
