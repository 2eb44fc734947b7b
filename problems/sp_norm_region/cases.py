"""The inputs of sp_norm_region: arguments of norm_region after the mesh, in their order."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]

# Batch, positions, features, hidden units before and after. On no mesh are two of them, whole or split, equal.
SIZES = 3, 64, 48, 160, 224
OTHER_SIZES = 2, 120, 56, 208, 104


def public_cases() -> list[Case]:
    return [_draw(np.random.default_rng(0), *SIZES)]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it."""
    yield _draw(rng, *SIZES)
    # Fewer hidden units after the norm than before it.
    yield _draw(rng, *OTHER_SIZES)


def _draw(rng: np.random.Generator, batch: int, positions: int, width: int, before: int, after: int) -> Case:
    # Positions differ in size by a factor of 4000, so each needs its own norm. The first ones are so small that the
    # 0.000001 in the norm counts.
    loud = np.geomspace(1e-3, 4, positions, dtype=np.float32)[:, None]
    return {
        "hidden": loud * rng.standard_normal((batch, positions, before), dtype=np.float32),
        "down": rng.standard_normal((before, width), dtype=np.float32) / np.float32(np.sqrt(before)),
        "stream": loud * rng.standard_normal((batch, positions, width), dtype=np.float32),
        "scale": rng.uniform(0.5, 1.5, width).astype(np.float32),
        "up": rng.standard_normal((width, after), dtype=np.float32) / np.float32(np.sqrt(width)),
    }
