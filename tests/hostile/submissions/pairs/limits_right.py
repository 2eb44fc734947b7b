"""expect: accepted; pair: pairs/limits_left. Needs a few threads and some scratch of its own at the same time."""

import threading
import time

for round in range(15):
    threads = [threading.Thread(target=time.sleep, args=(0.01,)) for _ in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with open(f"/tmp/{round}", "wb") as file:
        file.write(b"1" * (2 << 20))
    time.sleep(0.1)


def add_one(x):
    return x + 1
