import numpy as np
from variant import width


def public_cases():
    return [{"seed": 1, "x": np.arange(20 * width, dtype=np.float32).reshape(1, 20, width) / 1000}]


def hidden_cases(rng):
    for seed in (7, 8):
        yield {"seed": seed, "x": rng.standard_normal((1, 20, width), dtype=np.float32)}
