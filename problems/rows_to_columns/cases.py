"""The inputs of rows_to_columns. Every case is a dict in the order of the entry point's arguments."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]


def public_cases() -> list[Case]:
    """A square array whose elements say where they belong: 307 is in row 3, column 7."""
    return [{"x": (100 * np.arange(16)[:, None] + np.arange(16)).astype(np.float32)}]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it.

    All elements are at least 1, so zeros in the place of elements are never right.
    """
    # Wider than high, and then higher than wide. In neither is a block square, so its dimensions cannot be confused.
    yield {"x": rng.uniform(1.0, 2.0, (24, 40)).astype(np.float32)}
    yield {"x": rng.uniform(1.0, 2.0, (256, 96)).astype(np.float32)}
