"""The inputs of fsdp_linear_real. Every case is a dict in the order of the entry point's arguments."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]

# (N, D_in, D_out). The batch is unlike every width, whole or divided by 4 or 8, so that a tensor with that many rows
# in the compiled program is the batch and nothing else.
TALL = (320, 96, 64)  # on both meshes the kernel is split along D_in, and a bias of 64 is split
# 8 does not divide 100, and 4 does: on 8 devices the kernel is split along D_in and the bias is whole, on 4 the longer
# D_out is the one to split, and the bias is split, too.
TURNING = (352, 56, 100)
# Both dimensions are equally long, so the rule for a tie decides: the kernel is split along D_in.
SQUARE = (320, 72, 72)


def public_cases() -> list[Case]:
    """One case, drawn from a public seed."""
    return [_draw(np.random.default_rng(0), TALL, seed=0, lr=0.5)]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it.

    seed and lr are Python numbers and so part of the program. Each new one costs a compilation, so only a few differ.
    """
    # Rows that grow from shard to shard: the loss of one device is not the loss of the batch.
    yield _draw(rng, TALL, seed=0, lr=0.5, ramp=True)
    yield _draw(rng, TURNING, seed=11, lr=0.1)
    yield _draw(rng, TURNING, seed=11, lr=0.1, ramp=True)
    yield _draw(rng, SQUARE, seed=2_000_000_011, lr=0.3, ramp=True)


def _draw(rng: np.random.Generator, shape: tuple[int, int, int], *, seed: int, lr: float, ramp: bool = False) -> Case:
    rows, d_in, d_out = shape
    x = rng.standard_normal((rows, d_in), dtype=np.float32)
    # The offset gives the bias a gradient well away from 0.
    y = rng.standard_normal((rows, d_out), dtype=np.float32) + np.float32(1.0)
    if ramp:
        x = x * np.linspace(0.25, 2.0, rows, dtype=np.float32)[:, None]
    return {"seed": seed, "x": x, "y": y, "lr": lr}
