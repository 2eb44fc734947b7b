"""The inputs of explicit_matmul: arguments of mlp after the mesh, in their order."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]

# The hidden layer is 8 times as wide as the result, so gathering it, or the weights, costs far more than the one sum.
ROWS, WIDTH, HIDDEN = 96, 64, 512


def public_cases() -> list[Case]:
    return [_draw(np.random.default_rng(0))]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it."""
    for _ in range(3):
        yield _draw(rng)


def _draw(rng: np.random.Generator) -> Case:
    def normal(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape, dtype=np.float32)

    return {
        "w1": normal(WIDTH, HIDDEN) / np.float32(np.sqrt(WIDTH)),
        "w2": normal(HIDDEN, WIDTH) / np.float32(np.sqrt(HIDDEN)),
        "bias": normal(WIDTH),
        "x": normal(ROWS, WIDTH),
    }
