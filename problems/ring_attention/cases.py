"""The inputs of ring_attention: arguments of attention after the mesh, in their order."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]

# Positions, heads and numbers per head. No two of them are equal, in the whole arrays or on a device of either mesh. No
# mesh's devices divide the number of heads, so heads cannot be exchanged for positions.
SHAPE = 256, 6, 16
OTHER_SHAPE = 320, 5, 24
# Scores have a standard deviation of 1, or of this. The largest are then far above 89, whose exponential is infinite in
# float32.
GAIN = 40


def public_cases() -> list[Case]:
    return [_draw(np.random.default_rng(0), SHAPE)]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it."""
    yield _draw(rng, SHAPE)
    yield _draw(rng, SHAPE, GAIN)
    yield _draw(rng, OTHER_SHAPE)


def _draw(rng: np.random.Generator, shape: tuple[int, ...], gain: float = 1) -> Case:
    case = {name: rng.standard_normal(shape, dtype=np.float32) for name in "qkv"}
    return case | {"q": case["q"] * np.float32(gain)}
