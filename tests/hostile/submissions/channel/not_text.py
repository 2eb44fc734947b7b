"""expect: accepted. Prints bytes that are not UTF-8."""

import os

os.write(1, bytes(range(256)) * 4)
os.write(2, b"\xff\xfe\xed\xa0\x80\0")


def add_one(x):
    return x + 1
