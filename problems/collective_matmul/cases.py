"""The inputs of collective_matmul: arguments of gathered_matmul after the mesh, in their order."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]

# Rows, width and columns. No two of them are equal, in the whole arrays or on a device of either mesh.
SIZES = 320, 256, 384
OTHER_SIZES = 448, 192, 320


def public_cases() -> list[Case]:
    return [_draw(np.random.default_rng(0), *SIZES)]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it."""
    yield _draw(rng, *SIZES)
    yield _draw(rng, *OTHER_SIZES)


def _draw(rng: np.random.Generator, rows: int, width: int, columns: int) -> Case:
    return {
        "x": rng.standard_normal((rows, width), dtype=np.float32),
        "w": rng.standard_normal((width, columns), dtype=np.float32) / np.float32(np.sqrt(width)),
    }
