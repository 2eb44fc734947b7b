"""expect: rejected/memory_limit. Takes memory in eight threads at once, faster than one could."""

import threading

hoard = []


def take():
    while True:
        hoard.append(b"1" * (16 << 20))


threads = [threading.Thread(target=take, daemon=True) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()


def add_one(x):
    return x + 1
