"""The inputs of place_the_batch. Every case is a dict in the order of the entry point's arguments."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]


def public_cases() -> list[Case]:
    """Eight rows, one on each of 8 devices. Every element says which row it is of: 305 is in row 3."""
    rows = 100 * np.arange(8)
    return [
        {
            "tokens": (rows[:, None] + np.arange(8)).astype(np.int32),
            "labels": rows.astype(np.int32),
            "images": (rows[:, None, None] + np.arange(16).reshape(4, 4)).astype(np.float32),
            "temperature": np.array(0.5, np.float32),
        }
    ]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it.

    All elements are at least 1, so zeros instead of elements are never right.
    """
    for rows, length, height, width in ((16, 24, 8, 8), (48, 16, 24, 16)):
        yield {
            "tokens": rng.integers(1, 1000, (rows, length)).astype(np.int32),
            "labels": rng.integers(1, 10, rows).astype(np.int32),
            "images": rng.uniform(1.0, 2.0, (rows, height, width)).astype(np.float32),
            "temperature": np.array(rng.uniform(1.0, 2.0), np.float32),
        }
