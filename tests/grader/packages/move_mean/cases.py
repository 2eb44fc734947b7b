"""Two steps of 24 rows, unlike the 16 columns."""

import numpy as np


def public_cases():
    return [{"seed": 1, "x": np.arange(2 * 24 * 16, dtype=np.float32).reshape(2, 24, 16) / 1000}]


def hidden_cases(rng):
    yield {"seed": 7, "x": rng.standard_normal((2, 24, 16), dtype=np.float32)}
