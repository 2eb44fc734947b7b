"""The inputs of hybrid_fsdp_tp: a seed, and a batch for each of three steps."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]

# The batch is unlike every width of the network, whole or divided by 2 or 4, so that a tensor with that many rows in
# the compiled program is the batch and nothing else.
STEPS, ROWS, D_IN, D_OUT = 3, 264, 24, 120


def public_cases() -> list[Case]:
    """One case, drawn from a public seed."""
    return [_draw(np.random.default_rng(0), seed=0)]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it."""
    yield _draw(rng, seed=5)
    # Rows that grow from the first device to the last: one device's loss and gradient are not those of the batch.
    yield _draw(rng, seed=31, ramp=True)
    # Large targets: a gradient that was clipped or normalised by mistake shows.
    yield _draw(rng, seed=2_000_000_011, scale=4.0)


def _draw(rng: np.random.Generator, *, seed: int, scale: float = 1.0, ramp: bool = False) -> Case:
    x = rng.standard_normal((STEPS, ROWS, D_IN), dtype=np.float32)
    # Targets that depend on x, so that there is something to learn, and an offset, so that the biases move.
    mix = rng.standard_normal((D_IN, D_OUT), dtype=np.float32) / np.float32(np.sqrt(D_IN))
    y = np.float32(scale) * (np.sin(x @ mix) + np.float32(0.5))
    if ramp:
        x = x * np.linspace(0.25, 2.0, ROWS, dtype=np.float32)[:, None]
    return {"seed": seed, "x": x, "y": y}
