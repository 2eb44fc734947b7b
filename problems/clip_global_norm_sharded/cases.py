"""The inputs of clip_global_norm_sharded: a seed, and a batch for each of three steps."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]

# The batch is unlike every width of the model, whole or divided by 4 or 8.
STEPS, ROWS, D_IN, D_OUT = 3, 384, 40, 24
MORE_ROWS = 448


def public_cases() -> list[Case]:
    """The first and the third batch have a norm above the limit, the second one has not."""
    return [_draw(np.random.default_rng(0), seed=0, scales=(3.0, 0.1, 4.0))]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it."""
    # Every norm is above the limit. Rows differ in size from device to device, and so do the gradients of each.
    yield _draw(rng, seed=3, scales=(4.0, 6.0, 8.0), ramp=True)
    # None is. The first one would be if the biases were counted on every device.
    yield _draw(rng, seed=8, scales=(1.9, 0.5, 0.1))
    # An empty batch first: all gradients are 0, and so is their norm. More rows, and a seed of 31 bits.
    yield _draw(rng, seed=2_000_000_011, scales=(0.0, 3.0, 0.1), rows=MORE_ROWS)
    # The norm is about 0.0003, then about 16,000, and then 0.04.
    yield _draw(rng, seed=12, scales=(1e-3, 4e4, 0.02), is_quiet=True)


def _draw(
    rng: np.random.Generator,
    *,
    seed: int,
    scales: tuple[float, ...],
    rows: int = ROWS,
    ramp: bool = False,
    is_quiet: bool = False,
) -> Case:
    """A case whose targets have these scales, one in each step. In a quiet one, inputs are never larger than they."""
    x = rng.standard_normal((STEPS, rows, D_IN), dtype=np.float32)
    mix = rng.standard_normal((D_IN, D_OUT), dtype=np.float32) / np.float32(np.sqrt(D_IN))
    # An offset, so that the biases have gradients, too.
    y = np.tanh(x @ mix) + np.float32(0.5)
    if ramp:
        x = x * np.linspace(0.25, 2.0, rows, dtype=np.float32)[:, None]
    size = np.array(scales, dtype=np.float32)[:, None, None]
    if is_quiet:
        x = x * np.minimum(size, 1)
    return {"seed": seed, "x": x * (size > 0), "y": y * size}
