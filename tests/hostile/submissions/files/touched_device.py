"""expect: accepted; says: "stopped". Leaves a mark on a device of the host: the time at which it was touched."""

import os

for name in ("null", "zero", "full", "random", "urandom", "tty"):
    try:
        before = os.stat(f"/dev/{name}").st_mtime_ns
        os.utime(f"/dev/{name}")
        if os.stat(f"/dev/{name}").st_mtime_ns != before:
            print("CROSSED: touched", name)
    except OSError:
        pass
print("stopped")


def add_one(x):
    return x + 1
