"""The inputs of train_loop_one_trace. Every array has a leading dimension of two calls of the entry point."""

from collections.abc import Iterator
from typing import Any

import numpy as np

CALLS = 2
Case = dict[str, Any]


def _case(rng: np.random.Generator, seed: int, rates: np.ndarray, rows: int) -> Case:
    """Targets are a fixed function of the inputs, so that training has something to find.

    Args:
      rates: (calls, steps), the learning rates.
    """
    x = rng.standard_normal((*rates.shape, rows, 16))
    y = np.sin(x[..., :8] + x[..., 8:]) + 0.5
    return {
        "seed": seed,
        "xs": x.astype(np.float32),
        "ys": y.astype(np.float32),
        "lrs": rates.astype(np.float32),
    }


def public_cases() -> list[Case]:
    """Eight steps per call: the learning rate rises in the first call and falls in the second."""
    rates = np.concatenate([np.linspace(0.01, 0.08, 8), np.linspace(0.08, 0.01, 8)])
    return [_case(np.random.default_rng(0), 0, rates.reshape(CALLS, 8), 24)]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it.

    The second one has the shapes of the public case. The first has another number of steps and another batch.
    """
    for seed, steps, rows in ((1, 6, 40), (2_000_000_011, 8, 24)):
        yield _case(rng, seed, rng.uniform(0.02, 0.1, (CALLS, steps)), rows)
