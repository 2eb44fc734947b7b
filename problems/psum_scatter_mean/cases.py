"""The inputs of psum_scatter_mean. Every case is a dict in the order of the entry point's arguments."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]


def public_cases() -> list[Case]:
    """Eight gradients that a student sees in full: gradient k is full of k, so their mean is 3.5 everywhere."""
    return [{"g_stacked": np.repeat(np.arange(8, dtype=np.float32), 16 * 8).reshape(8, 16, 8)}]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it.

    8 divides the width, too: a result split along the wrong dimension is a mistake, never an error.
    """
    # As many gradients as the larger mesh has devices: one on each there, two on each of 4.
    yield {"g_stacked": rng.standard_normal((8, 16, 8), dtype=np.float32)}
    # Three on each of 8 devices, six on each of 4: neither is the number of devices, so each division shows.
    yield {"g_stacked": rng.standard_normal((24, 32, 16), dtype=np.float32)}
    yield {"g_stacked": rng.uniform(1.0, 2.0, (24, 32, 16)).astype(np.float32)}
