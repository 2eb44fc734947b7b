"""The inputs of explicit_matmul: arguments of mlp after the mesh, in their order."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]

# The hidden layer is 8 times as wide as the result, so gathering it, or the weights, costs far more than the one sum.
ROWS, WIDTH, HIDDEN = 96, 64, 512
OTHER_SIZES = 112, 48, 384


def public_cases() -> list[Case]:
    return [_draw(np.random.default_rng(0))]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it."""
    for _ in range(2):
        yield _draw(rng)
    yield _draw(rng, *OTHER_SIZES)


def _draw(rng: np.random.Generator, rows: int = ROWS, width: int = WIDTH, hidden: int = HIDDEN) -> Case:
    def normal(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape, dtype=np.float32)

    return {
        "w1": normal(width, hidden) / np.float32(np.sqrt(width)),
        "w2": normal(hidden, width) / np.float32(np.sqrt(hidden)),
        "bias": normal(width),
        "x": normal(rows, width),
    }
