"""The inputs of make_it_green: a seed, and a batch for each of two steps."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]

# No width, whole or divided by 4 or 8, is equal to a number of rows.
STEPS, ROWS, MORE_ROWS, WIDTH = 2, 264, 312, 40


def public_cases() -> list[Case]:
    """One case, drawn from a public seed."""
    return [_draw(np.random.default_rng(0), seed=0)]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it."""
    yield _draw(rng, seed=7)
    # More rows, which grow along the batch, so that no device has the loss or the gradient of all.
    yield _draw(rng, seed=2_000_000_011, rows=MORE_ROWS, ramp=True)


def _draw(rng: np.random.Generator, *, seed: int, rows: int = ROWS, ramp: bool = False) -> Case:
    x = rng.standard_normal((STEPS, rows, WIDTH), dtype=np.float32)
    # Targets that depend on x, so that there is something to learn.
    mix = rng.standard_normal((WIDTH, WIDTH), dtype=np.float32) / np.float32(np.sqrt(WIDTH))
    y = x + np.tanh(x @ mix)
    if ramp:
        x = x * np.linspace(0.25, 1.5, rows, dtype=np.float32)[:, None]
    return {"seed": seed, "x": x, "y": y}
