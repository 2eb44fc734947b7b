"""expect: accepted; pair: pairs/touched_device_right. Signals through the time at which a device that everyone may write was touched."""

import os
import time

for _ in range(15):
    for name in ("null", "zero", "full", "random", "urandom"):
        try:
            os.utime(f"/dev/{name}")
        except OSError:
            continue
    time.sleep(0.1)


def add_one(x):
    return x + 1
