"""expect: rejected/killed. Carries hidden inputs out as the number it exits with."""

import os

calls = []


def add_one(x):
    calls.append(None)
    if len(calls) == 1:
        return x + 1
    os.write(2, f"{float(x[0]):.6f} {float(x[1]):.6f}".encode())
    os._exit(int(abs(float(x[0])) * 100) % 256)
