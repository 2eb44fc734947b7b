"""expect: accepted. Makes a file without a name and gives it one where it may not write."""

import os

try:
    descriptor = os.open("/tmp", os.O_TMPFILE | os.O_RDWR)
    os.write(descriptor, b"x")
    os.link(f"/proc/self/fd/{descriptor}", "/planted")
    print("CROSSED: linked a file into the root")
except OSError as error:
    print("stopped:", error.strerror)


def add_one(x):
    return x + 1
