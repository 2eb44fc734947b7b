"""The inputs of ring_reduce_scatter. Every case is a dict in the order of the entry point's arguments."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]


def public_cases() -> list[Case]:
    """Eight terms that a student sees in full: term m is 2**m times an array, so the sum is 255 times that array.

    A sum without term m lacks 2**m times the array, so the result shows which terms are missing. Row r of the array has
    10 r + 1, 10 r + 2 and 10 r + 3, so it also shows which row it is.
    """
    array = 10 * np.arange(16, dtype=np.float32)[:, None] + np.arange(1, 4, dtype=np.float32)
    return [{"terms": 2.0 ** np.arange(8, dtype=np.float32)[:, None, None] * array}]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it.

    All elements are at least 1, so no missing term is within the tolerance. No two dimensions of an array or a block
    are equal.
    """
    # One term on each of 8 devices, two on each of 4.
    yield {"terms": rng.uniform(1.0, 2.0, (8, 24, 5)).astype(np.float32)}
    # Three terms on each of 8 devices, six on each of 4.
    yield {"terms": rng.uniform(1.0, 2.0, (24, 160, 48)).astype(np.float32)}
