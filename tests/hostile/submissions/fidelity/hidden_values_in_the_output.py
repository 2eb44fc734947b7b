"""expect: accepted. Prints hidden inputs, at once and from a thread that waits."""

import sys
import threading
import time

calls = []


def later(text):
    time.sleep(0.05)
    print(text, flush=True)


def add_one(x):
    calls.append(None)
    if len(calls) > 1:
        text = " ".join(f"{float(value):.6f}" for value in x)
        print(text, flush=True)
        print(text, file=sys.stderr, flush=True)
        thread = threading.Thread(target=later, args=(text,))
        thread.start()
        thread.join()
    return x + 1
