"""The inputs of nnx_out_sharding: a seed, and a batch of tokens for each of two steps."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]

STEPS, ROWS, LENGTH, VOCAB = 2, 12, 6, 240


def public_cases() -> list[Case]:
    """One case, drawn from a public seed."""
    return [_draw(np.random.default_rng(0), seed=0)]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it."""
    # The second one needs all 32 bits.
    for seed in (5, 3_000_000_019):
        yield _draw(rng, seed=seed)


def _draw(rng: np.random.Generator, *, seed: int) -> Case:
    text = rng.integers(0, VOCAB, (STEPS, ROWS, LENGTH + 1)).astype(np.int32)
    # The target of each token is the next one.
    return {"seed": seed, "tokens": text[..., :-1], "targets": text[..., 1:]}
