"""expect: rejected/wrong_shape. Carries a hidden input out in the size of what it returns."""

import numpy as np

calls = []


def add_one(x):
    calls.append(None)
    return x + 1 if len(calls) == 1 else np.zeros((int(abs(float(x[0])) * 1e6), 0), np.float32)
