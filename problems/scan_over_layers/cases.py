"""The inputs of scan_over_layers. Every case is a dict in the order of the entry point's arguments."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]

WIDTH, HIDDEN = 16, 24


def public_cases() -> list[Case]:
    """A stack of 6 layers."""
    return [_draw(np.random.default_rng(0), layers=6, rows=10)]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it.

    No layer is like another, so their order and number show in the output.
    """
    yield _draw(rng, layers=8, rows=12)
    yield _draw(rng, layers=30, rows=5)


def _draw(rng: np.random.Generator, *, layers: int, rows: int) -> Case:
    def normal(*shape: int, scale: float = 1.0) -> np.ndarray:
        return (scale * rng.standard_normal(shape)).astype(np.float32)

    return {
        "norm": 1 + normal(layers, WIDTH, scale=0.2),
        "up": normal(layers, WIDTH, HIDDEN, scale=0.25),
        "down": normal(layers, HIDDEN, WIDTH, scale=0.2),
        "x": normal(rows, WIDTH),
    }
