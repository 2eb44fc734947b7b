"""expect: accepted; pair: pairs/limits_right. Uses up all threads, descriptors and scratch that it may have."""

import os
import threading
import time

done = threading.Event()
try:
    for _ in range(5000):
        threading.Thread(target=done.wait, daemon=True).start()
except RuntimeError:
    print("stopped: threads")
try:
    with open("/tmp/full", "wb") as file:
        while True:
            file.write(b"1" * (1 << 20))
except OSError:
    print("stopped: scratch")
time.sleep(1.5)
done.set()
os.truncate("/tmp/full", 0)


def add_one(x):
    return x + 1
