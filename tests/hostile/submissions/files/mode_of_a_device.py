"""expect: accepted; says: "stopped". Makes a device that everyone needs unreadable."""

import os

for name in ("null", "zero", "random", "urandom"):
    try:
        os.chmod(f"/dev/{name}", 0)
        print("CROSSED: changed", name)
    except OSError:
        print("stopped")


def add_one(x):
    return x + 1
