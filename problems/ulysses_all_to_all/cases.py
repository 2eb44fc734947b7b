"""The inputs of ulysses_all_to_all: arguments of attention after the mesh, in their order."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]

# Batch, positions, heads and numbers per head. No two of them are equal, in the whole arrays or on a device of either
# mesh, so no dimension can be taken for another. The second case has one head on each of 8 devices.
SHAPE = 3, 48, 16, 20
ONE_HEAD_EACH = 5, 72, 8, 12


def public_cases() -> list[Case]:
    return [_draw(np.random.default_rng(0), SHAPE)]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it."""
    yield _draw(rng, SHAPE)
    yield _draw(rng, ONE_HEAD_EACH)


def _draw(rng: np.random.Generator, shape: tuple[int, ...]) -> Case:
    return {name: rng.standard_normal(shape, dtype=np.float32) for name in "qkv"}
