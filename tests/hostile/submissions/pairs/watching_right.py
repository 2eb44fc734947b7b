"""expect: accepted; pair: pairs/watching_left. Reads a shared file again and again."""

import os
import time

for _ in range(30):
    with open(os.path.join(os.path.dirname(os.__file__), "this.py"), "rb") as file:
        file.read()
    time.sleep(0.05)


def add_one(x):
    return x + 1
