"""The inputs of remat_a_block. Every case is a dict in the order of the entry point's arguments."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]

WIDTH, HIDDEN = 16, 48


def public_cases() -> list[Case]:
    """A stack of 8 layers and 40 rows."""
    return [_draw(np.random.default_rng(0), layers=8, rows=40)]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it.

    Weights and activations are both large in one of them: many layers, or many rows.
    """
    yield _draw(rng, layers=10, rows=30)
    yield _draw(rng, layers=6, rows=100)


def _draw(rng: np.random.Generator, *, layers: int, rows: int) -> Case:
    def normal(*shape: int, scale: float = 1.0) -> np.ndarray:
        return (scale * rng.standard_normal(shape)).astype(np.float32)

    x = normal(rows, WIDTH)
    return {
        "norm": 1 + normal(layers, WIDTH, scale=0.2),
        "up": normal(layers, WIDTH, HIDDEN, scale=0.2),
        "gate": normal(layers, WIDTH, HIDDEN, scale=0.2),
        "down": normal(layers, HIDDEN, WIDTH, scale=0.1),
        "x": x,
        "y": np.sin(3 * x),
    }
