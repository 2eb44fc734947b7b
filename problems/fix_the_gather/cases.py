"""The inputs of fix_the_gather: arguments of loss_and_grads after the mesh, in their order."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]

# Rows, features, hidden units. On no mesh are two of them, whole or split by 2, 3 or 4, equal.
SIZES = 150, 40, 96
OTHER_SIZES = 204, 72, 112


def public_cases() -> list[Case]:
    """One case, drawn from a public seed."""
    return [_draw(np.random.default_rng(0), *SIZES)]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it."""
    yield _draw(rng, *SIZES)
    # Other sizes, and rows that grow along the batch, so that no device has the loss or the gradients of all.
    yield _draw(rng, *OTHER_SIZES, ramp=True)


def _draw(rng: np.random.Generator, rows: int, width: int, hidden: int, *, ramp: bool = False) -> Case:
    x = rng.standard_normal((rows, width), dtype=np.float32)
    if ramp:
        x = x * np.linspace(0.25, 2.0, rows, dtype=np.float32)[:, None]
    return {
        "w_in": rng.standard_normal((width, hidden, 2), dtype=np.float32) / np.float32(np.sqrt(width)),
        "w_out": rng.standard_normal((hidden, width), dtype=np.float32) / np.float32(np.sqrt(hidden)),
        "x": x,
        "y": np.tanh(x[:, ::-1]) + np.float32(0.5),
    }
