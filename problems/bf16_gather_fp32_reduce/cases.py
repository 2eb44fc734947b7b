"""The inputs of bf16_gather_fp32_reduce: a seed, and a batch for each of four steps."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]

STEPS, ROWS, D_IN, D_OUT = 4, 384, 40, 24
MORE_ROWS = 448


def public_cases() -> list[Case]:
    """One case, drawn from a public seed."""
    return [_draw(np.random.default_rng(0), seed=0)]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it."""
    yield _draw(rng, seed=1)
    # Rows grow from device to device, so that no device's own gradient is the mean.
    # A larger batch, and a seed of 31 bits.
    yield _draw(rng, seed=2_000_000_011, rows=MORE_ROWS, ramp=True)


def _draw(rng: np.random.Generator, *, seed: int, rows: int = ROWS, ramp: bool = False) -> Case:
    x = rng.standard_normal((STEPS, rows, D_IN), dtype=np.float32)
    # Targets that depend on x, so that there is something to learn, and an offset, so that the biases move.
    mix = rng.standard_normal((D_IN, D_OUT), dtype=np.float32) / np.float32(np.sqrt(D_IN))
    y = np.float32(0.4) * np.tanh(x @ mix) + np.float32(0.2)
    if ramp:
        x = x * np.linspace(0.25, 1.5, rows, dtype=np.float32)[:, None]
    return {"seed": seed, "x": x, "y": y}
