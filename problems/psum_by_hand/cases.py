"""The inputs of psum_by_hand. Every case is a dict in the order of the entry point's arguments."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]


def public_cases() -> list[Case]:
    """Eight vectors that a student sees in full: vector m is 2**m times 0, 1, 2, …, so the sum is 255 times that.

    A sum without vector m lacks 2**m times that, so the result shows which vectors are missing.
    """
    return [{"parts": 2.0 ** np.arange(8, dtype=np.float32)[:, None] * np.arange(44, dtype=np.float32)}]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it.

    All elements are at least 1, so zeros in the place of elements are never within the tolerance.
    """
    # 4 divides the length and 8 does not, so a program has to work with padding and without it.
    yield {"parts": rng.uniform(1.0, 2.0, (8, 44)).astype(np.float32)}
    # Neither divides the length. Three vectors on each of 8 devices, six on each of 4: more than one everywhere.
    yield {"parts": rng.uniform(1.0, 2.0, (24, 1003)).astype(np.float32)}
