"""expect: accepted; wall: rlimits; says: "stopped". Starts threads until none can be started."""

import threading

done = threading.Event()
threads = []
try:
    while len(threads) < 5000:
        thread = threading.Thread(target=done.wait, daemon=True)
        thread.start()
        threads.append(thread)
    print("CROSSED: started", len(threads), "threads")
except (RuntimeError, MemoryError):
    print("stopped")
done.set()
for thread in threads:
    thread.join()


def add_one(x):
    return x + 1
