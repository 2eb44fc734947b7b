"""The inputs of gpipe_backward: arguments of gpipe_grads after the mesh, in their order."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]

# Sizes unlike each other and unlike the number of stages and of ticks, so that each can be told from its dimension.
LAYERS, WIDTH, ROWS = 32, 48, 40
# More microbatches than stages, and fewer: with five of them a pipeline of 8 stages is never full.
MANY, FEW = 12, 5


def public_cases() -> list[Case]:
    return [_draw(np.random.default_rng(0), MANY)]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it."""
    yield _draw(rng, MANY)
    yield _draw(rng, FEW)


def _draw(rng: np.random.Generator, microbatches: int) -> Case:
    # A gain of 1.3 keeps activations and gradients from fading or growing through all layers.
    layers = rng.standard_normal((LAYERS, WIDTH, WIDTH), dtype=np.float32) * np.float32(1.3 / np.sqrt(WIDTH))
    shape = (microbatches, ROWS, WIDTH)
    # Each microbatch has targets of its own scale, so that none can be mistaken for another.
    scale = np.linspace(0.5, 1.5, microbatches, dtype=np.float32)[:, None, None]
    return {
        "layers": layers,
        "microbatches": rng.standard_normal(shape, dtype=np.float32),
        "targets": scale * rng.uniform(-1, 1, shape).astype(np.float32),
    }
