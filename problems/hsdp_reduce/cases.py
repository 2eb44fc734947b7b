"""The inputs of hsdp_reduce. Every case is a dict in the order of the entry point's arguments."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]

# 8, 4 and 6 divide the number of gradients, and the rows of each leaf: a shard can be split again, over data.
GRADIENTS, D_IN, D_OUT = 24, 24, 48


def public_cases() -> list[Case]:
    """Small whole numbers, so that each sum can be followed: three gradients on each of 8 devices."""
    rng = np.random.default_rng(0)
    return [
        {
            "kernel": rng.integers(-9, 10, (GRADIENTS, D_IN, D_OUT)).astype(np.float32),
            "bias": rng.integers(-9, 10, (GRADIENTS, D_OUT)).astype(np.float32),
        }
    ]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it."""
    yield _draw(rng, GRADIENTS, D_IN, D_OUT)
    # Other sizes, and gradients that grow from the first device to the last: no group has the mean of all.
    yield _draw(rng, 2 * GRADIENTS, 48, 72, ramp=True)


def _draw(rng: np.random.Generator, gradients: int, d_in: int, d_out: int, *, ramp: bool = False) -> Case:
    size = np.linspace(0.5, 2.0, gradients, dtype=np.float32) if ramp else np.ones(gradients, dtype=np.float32)
    return {
        "kernel": rng.standard_normal((gradients, d_in, d_out), dtype=np.float32) * size[:, None, None],
        "bias": (rng.standard_normal((gradients, d_out), dtype=np.float32) + np.float32(0.5)) * size[:, None],
    }
