"""The inputs of prefetch_gather: arguments of forward after the mesh, in their order."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]

WIDTH = 256
# An even and an odd number of layers, and rows unlike the width, so that the batch can be told from its dimension.
LAYERS, ROWS = 6, 320
MORE_LAYERS, MORE_ROWS = 7, 448


def public_cases() -> list[Case]:
    return [_draw(np.random.default_rng(0), LAYERS, ROWS)]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it."""
    yield _draw(rng, LAYERS, ROWS)
    yield _draw(rng, MORE_LAYERS, MORE_ROWS)


def _draw(rng: np.random.Generator, layers: int, rows: int) -> Case:
    # A gain of 1.5 keeps tanh away from both its straight part and its ends through all layers.
    weights = rng.standard_normal((layers, WIDTH, WIDTH), dtype=np.float32) * np.float32(1.5 / np.sqrt(WIDTH))
    return {"weights": weights, "x": rng.standard_normal((rows, WIDTH), dtype=np.float32)}
