"""expect: accepted. Leaves a thread running that does no harm."""

import threading
import time

threading.Thread(target=time.sleep, args=(600,), daemon=True).start()


def add_one(x):
    return x + 1
