import numpy as np


def public_cases():
    return [{"x": np.asarray([1.0, 2.0], np.float32)}]


def hidden_cases(rng):
    for _ in range(2):
        yield {"x": rng.normal(size=(2,)).astype(np.float32)}
