import numpy as np
from variant import width


def public_cases():
    return [{"x": np.arange(1, width + 1, dtype=np.float32)}]


def hidden_cases(rng):
    for _ in range(2):
        yield {"x": rng.normal(size=(width,)).astype(np.float32)}
