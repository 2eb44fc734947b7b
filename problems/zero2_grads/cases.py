"""The inputs of zero2_grads: a seed, and a batch for each of three steps."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]

# The batch is unlike every width of the model, whole or divided by 4 or 8, so that a tensor with that many rows
# in the compiled program is the batch and nothing else.
STEPS, ROWS, D_IN, D_OUT = 3, 384, 40, 24


def public_cases() -> list[Case]:
    """One case, drawn from a public seed."""
    return [_draw(np.random.default_rng(0), seed=0)]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it."""
    yield _draw(rng, seed=1)
    # Rows that differ in size from shard to shard: the loss of one device is not the loss of the batch.
    yield _draw(rng, seed=2, ramp=True)
    yield _draw(rng, seed=2_000_000_011, scale=8.0)


def _draw(rng: np.random.Generator, *, seed: int, scale: float = 1.0, ramp: bool = False) -> Case:
    x = rng.standard_normal((STEPS, ROWS, D_IN), dtype=np.float32)
    # Targets that depend on x, so that there is something to learn, and an offset, so that the biases move.
    mix = rng.standard_normal((D_IN, D_OUT), dtype=np.float32) / np.float32(np.sqrt(D_IN))
    y = np.tanh(x @ mix) * np.float32(scale) + np.float32(0.5)
    if ramp:
        x = x * np.linspace(0.25, 2.0, ROWS, dtype=np.float32)[:, None]
    return {"seed": seed, "x": x, "y": y}
