"""expect: rejected/killed. Ends the process from another thread while the call goes on."""

import os
import threading
import time


def add_one(x):
    threading.Timer(0.1, os._exit, [0]).start()
    time.sleep(5)
    return x + 1
