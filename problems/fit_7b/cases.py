"""The inputs of fit_7b: arguments of step after the mesh, in their order. Small here; full_size has the real shapes."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]

# No two sizes are equal, so that a tensor can be told by its shape. All but the last two split into 8.
ROWS, LENGTH, VOCABULARY, WIDTH, HIDDEN, HEADS, HEAD, LAYERS = 16, 24, 80, 64, 136, 8, 8, 3
# A third size, between the small one and full_size: otherwise, a program that leaves out layers or tokens beyond the
# small size is right wherever it runs. None of these is another size, whole or split. Only the length is drawn: what
# accepted styles send grows with layers at different rates, and budget.json has what they send at one number of them.
LAYERS_OF_THIRD = 12
LENGTHS_OF_THIRD = 72, 88, 96, 104


def public_cases() -> list[Case]:
    return [_draw(np.random.default_rng(0))]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it."""
    yield _draw(rng)
    yield _draw(rng, layers=LAYERS_OF_THIRD, length=int(rng.choice(LENGTHS_OF_THIRD)))


def _draw(rng: np.random.Generator, *, layers: int = LAYERS, length: int = LENGTH) -> Case:
    def weight(*shape: int, inputs: int) -> np.ndarray:
        return rng.standard_normal(shape, dtype=np.float32) / np.float32(np.sqrt(inputs))

    return {
        "embed": weight(VOCABULARY, WIDTH, inputs=WIDTH),
        "norms": 1 + weight(layers, 2, WIDTH, inputs=100),
        "qkv": weight(layers, WIDTH, 3, HEADS, HEAD, inputs=WIDTH),
        "out": weight(layers, HEADS, HEAD, WIDTH, inputs=WIDTH),
        "up": weight(layers, WIDTH, 2, HIDDEN, inputs=WIDTH),
        "down": weight(layers, HIDDEN, WIDTH, inputs=HIDDEN),
        "tokens": rng.integers(0, VOCABULARY, (ROWS, length + 1), dtype=np.int32),
    }
