"""The inputs of fsdp_grad_accum: a seed, and six microbatches for each of two steps."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]

STEPS, MICROBATCHES, ROWS, D_IN, D_OUT = 2, 6, 384, 40, 24
MORE_ROWS = 416


def public_cases() -> list[Case]:
    """One case, drawn from a public seed."""
    return [_draw(np.random.default_rng(0), seed=0)]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it."""
    yield _draw(rng, seed=1)
    # Microbatches and shards of rows differ in size, so no single one of them has the gradient of all.
    # They are larger, too, and the seed has 31 bits.
    yield _draw(rng, seed=2_000_000_011, rows=MORE_ROWS, ramp=True)


def _draw(rng: np.random.Generator, *, seed: int, rows: int = ROWS, ramp: bool = False) -> Case:
    x = rng.standard_normal((STEPS, MICROBATCHES, rows, D_IN), dtype=np.float32)
    # Targets that depend on x, so that there is something to learn, and an offset, so that the biases move.
    mix = rng.standard_normal((D_IN, D_OUT), dtype=np.float32) / np.float32(np.sqrt(D_IN))
    y = np.tanh(x @ mix) + np.float32(0.5)
    if ramp:
        x = x * np.linspace(0.25, 1.5, rows, dtype=np.float32)[:, None]
        x = x * np.linspace(1.0, 0.5, MICROBATCHES, dtype=np.float32)[:, None, None]
    return {"seed": seed, "x": x, "y": y}
