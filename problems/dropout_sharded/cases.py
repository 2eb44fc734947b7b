"""The inputs of dropout_sharded. Every case is a dict in the order of the entry point's arguments."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]


def public_cases() -> list[Case]:
    """Twelve rows: three on each device of the larger mesh, and six on the smaller one."""
    return [_draw(np.random.default_rng(0), rows=12, width=20, hidden=32)]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it."""
    yield _draw(rng, rows=40, width=36, hidden=48)
    # Both numbers of the key use all of their 32 bits.
    yield _draw(rng, rows=72, width=28, hidden=64, largest=2**32)


def _draw(rng: np.random.Generator, *, rows: int, width: int, hidden: int, largest: int = 1000) -> Case:
    return {
        "up": (rng.standard_normal((width, hidden)) / np.sqrt(width)).astype(np.float32),
        "down": (2 * rng.standard_normal((hidden, width)) / np.sqrt(hidden)).astype(np.float32),
        "x": rng.standard_normal((rows, width), dtype=np.float32),
        "key": rng.integers(largest // 2, largest, 2, dtype=np.uint32),
    }
