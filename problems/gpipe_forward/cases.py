"""The inputs of gpipe_forward: arguments of gpipe after the mesh, in their order."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]

# Sizes unlike each other and unlike the number of stages and of ticks, so that each can be told from its dimension.
LAYERS, WIDTH, ROWS = 16, 96, 24
# More microbatches than stages, and fewer: with five of them a pipeline of 8 stages is never full.
MANY, FEW = 12, 5


def public_cases() -> list[Case]:
    return [_draw(np.random.default_rng(0), MANY)]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it."""
    yield _draw(rng, MANY)
    yield _draw(rng, FEW)


def _draw(rng: np.random.Generator, microbatches: int) -> Case:
    # A gain of 1.5 keeps tanh away from both its straight part and its ends through all layers.
    layers = rng.standard_normal((LAYERS, WIDTH, WIDTH), dtype=np.float32) * np.float32(1.5 / np.sqrt(WIDTH))
    return {
        "layers": layers,
        "microbatches": rng.standard_normal((microbatches, ROWS, WIDTH), dtype=np.float32),
    }
