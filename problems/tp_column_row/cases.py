"""The inputs of tp_column_row: arguments of tp_mlp after the mesh, in their order."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]

# Rows unlike every width, so that a tensor with that dimension is an activation. The hidden layer is 8 times as wide
# as the input: gathering it costs far more than the one all_reduce.
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
        "x": normal(ROWS, WIDTH),
    }
