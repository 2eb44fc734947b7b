"""The inputs of fsdp_step. Every case is a dict in the order of the entry point's arguments."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]

# (N, D_in, D_out). Only a few, because a submission is compiled for each, and all different: fewer outputs than
# inputs, more outputs than inputs, and one output. Values differ in every case. warmup.py lists the same shapes.
SMALL = (4, 3, 2)
ONE_ROW = (1, 3, 2)
ONE_COLUMN = (24, 16, 1)


def public_cases() -> list[Case]:
    """Two cases that a student sees in full, small enough to print. The second steps too far: its loss rises."""
    return [
        {
            "seed": 0.0,
            "x": np.array([[1, 0, -1], [2, 1, 0], [0, 1, 1], [1, 1, 1]], dtype=np.float32),
            "y": np.array([[1, 0], [0, 1], [1, 1], [0, 0]], dtype=np.float32),
            "num_shards": 2.0,
            "lr": 0.1,
        },
        {
            "seed": 7.0,
            "x": np.array([[0.5, -1, 2], [1, 1, 0], [-1, 0.5, 0], [2, 0, 1]], dtype=np.float32),
            "y": np.array([[1, -1], [0, 2], [-2, 0], [1, 1]], dtype=np.float32),
            "num_shards": 3.0,
            "lr": 2.5,
        },
    ]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it."""
    yield _draw(rng, ONE_COLUMN, seed=0.0, num_shards=8.0, lr=0.1)
    # Four rows over three shards: an even split does not exist.
    yield _draw(rng, SMALL, seed=3.7, num_shards=3.0, lr=0.5)
    # One row can be fitted exactly. A short step keeps the second loss from being a small difference of large numbers.
    yield _draw(rng, ONE_ROW, seed=1.0, num_shards=8.0, lr=0.02)
    # With one output, (N, D_out) broadcasts against anything: a model of the wrong width no longer raises.
    # And no learning rate, no step: both losses are one number.
    yield _draw(rng, ONE_COLUMN, seed=5.0, num_shards=2.0, lr=0.0)
    # A step far beyond the minimum: the loss rises by some orders of magnitude.
    yield _draw(rng, SMALL, seed=1.0, num_shards=2.0, lr=1e3)
    yield _whole_numbers(rng, SMALL, seed=3.7, num_shards=1.0, lr=0.1)
    yield _draw(rng, ONE_COLUMN, seed=2_000_000_011.0, num_shards=8.0, lr=0.1)
    # Large targets: clipped or normalised gradients take another step.
    yield _draw(rng, SMALL, seed=4.0, num_shards=3.0, lr=0.3, scale=1e3)


def _draw(
    rng: np.random.Generator,
    shape: tuple[int, int, int],
    *,
    seed: float,
    num_shards: float,
    lr: float,
    scale: float = 1.0,
) -> Case:
    rows, d_in, d_out = shape
    return {
        "seed": seed,
        "x": rng.standard_normal((rows, d_in), dtype=np.float32),
        "y": rng.standard_normal((rows, d_out), dtype=np.float32) * np.float32(scale),
        "num_shards": num_shards,
        "lr": lr,
    }


def _whole_numbers(
    rng: np.random.Generator, shape: tuple[int, int, int], *, seed: float, num_shards: float, lr: float
) -> Case:
    """A case whose x is int32 while y is all fractions: an x that sets the dtype of y would make zeros of them."""
    rows, d_in, d_out = shape
    return {
        "seed": seed,
        "x": rng.integers(-2, 3, size=(rows, d_in), dtype=np.int32),
        "y": rng.uniform(0.3, 0.9, size=(rows, d_out)).astype(np.float32),
        "num_shards": num_shards,
        "lr": lr,
    }
