"""expect: accepted; pair: pairs/files_right. Leaves a file where both can find it, and waits for the other's."""

import os
import time

FOLDERS = ("/tmp", "/dev/shm", "/var/tmp", "/run", os.getcwd())
for _ in range(20):
    for folder in FOLDERS:
        try:
            with open(f"{folder}/from-left", "w") as file:
                file.write("x")
        except OSError:
            pass
        if os.path.exists(f"{folder}/from-right"):
            print("CROSSED: found the other's file in", folder)
    time.sleep(0.05)


def add_one(x):
    return x + 1
