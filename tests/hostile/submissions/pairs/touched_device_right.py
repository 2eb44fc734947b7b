"""expect: accepted; pair: pairs/touched_device_left. Watches the times of the devices that everyone may write."""

import os
import time

before = {}
for _ in range(15):
    for name in ("null", "zero", "full", "random", "urandom"):
        try:
            touched = os.stat(f"/dev/{name}").st_mtime_ns
        except OSError:
            continue
        if before.setdefault(name, touched) != touched:
            print("CROSSED: saw", name, "touched")
            before[name] = touched
    time.sleep(0.1)


def add_one(x):
    return x + 1
