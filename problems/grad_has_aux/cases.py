"""The inputs of grad_has_aux. Every case is a dict in the order of the entry point's arguments."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]

CLASSES = 5


def public_cases() -> list[Case]:
    """One batch."""
    return [_draw(np.random.default_rng(0), seed=0, rows=240, features=7)]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it.

    The features are far from 0 and of unequal size, so that running statistics differ from those of the batch.
    """
    yield _draw(rng, seed=1, rows=240, features=7)
    yield _draw(rng, seed=2_000_000_011, rows=200, features=9)


def _draw(rng: np.random.Generator, *, seed: int, rows: int, features: int) -> Case:
    labels = rng.integers(0, CLASSES, rows).astype(np.int32)
    centres = rng.standard_normal((CLASSES, features))
    x = 2 + 3 * centres[labels] + rng.standard_normal((rows, features)) * np.linspace(0.5, 2, features)
    return {"seed": seed, "x": x.astype(np.float32), "labels": labels}
