"""The inputs of shift_right. Every case is a dict in the order of the entry point's arguments."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]


def public_cases() -> list[Case]:
    """The same small array for a ring and for a line. Row r has 10 r + 1, 10 r + 2 and 10 r + 3, so no element is 0."""
    x = (10 * np.arange(16)[:, None] + np.arange(1, 4)).astype(np.float32)
    return [{"x": x, "ring": True}, {"x": x, "ring": False}]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it.

    All elements are at least 1, so zeros are right only where they are expected. Blocks have several rows, so that a
    shift by one row is never a shift by one block, and no two dimensions of an array or a block are equal.
    """
    yield {"x": rng.uniform(1.0, 2.0, (24, 5)).astype(np.float32), "ring": True}
    yield {"x": rng.uniform(1.0, 2.0, (160, 48)).astype(np.float32), "ring": False}
