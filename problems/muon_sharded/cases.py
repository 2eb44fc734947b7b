"""The inputs of muon_sharded: arguments of muon after the mesh, in their order."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]


def public_cases() -> list[Case]:
    """Matrices with more rows than columns, which are scaled and transposed."""
    return [_draw(np.random.default_rng(0), 16, 40, 24)]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it."""
    # Higher than wide, and then wider than high. No two dimensions are equal, whole or divided by 4 or 8.
    yield _draw(rng, 16, 40, 24)
    yield _draw(rng, 24, 56, 100)


def _draw(rng: np.random.Generator, layers: int, rows: int, columns: int) -> Case:
    shape = layers, rows, columns

    def normal() -> np.ndarray:
        return rng.standard_normal(shape, dtype=np.float32)

    # Layers differ in size, and rows do from the first shard to the last: neither the norm of a shard nor that of the
    # stack is the norm of a matrix. All are small enough for the sum of momentum and gradient to be exact within the
    # tolerance where the two nearly cancel.
    scale = np.geomspace(0.002, 0.1, layers, dtype=np.float32)[:, None, None]
    slope = np.linspace(0.5, 2, rows, dtype=np.float32)[:, None]
    return {
        "weights": normal() / np.float32(np.sqrt(columns)),
        "momentum": normal() * scale * slope,
        "grads": normal() * scale * slope,
    }
