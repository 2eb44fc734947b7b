"""The inputs of kv_cache_decode: a seed, and one token of each sequence for each of three steps."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]

# Sequences and features. With 8 kv heads, 24 query heads, 52 positions and 16 numbers in a head, no two sizes are equal
# on any mesh, whole or split.
STEPS, B, D = 3, 20, 44


def public_cases() -> list[Case]:
    """Three tokens, for positions 2 to 4."""
    return [_draw(np.random.default_rng(0), seed=0)]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it.

    The seed modulo 48 decides how many positions are filled.
    """
    # Half of the cache is filled.
    yield _draw(rng, seed=24)
    # The last token takes the last position. The seed has 31 bits.
    yield _draw(rng, seed=48 * 41_666_666 + 47)


def _draw(rng: np.random.Generator, *, seed: int) -> Case:
    return {"seed": seed, "x": np.float32(1.5) * rng.standard_normal((STEPS, B, D), dtype=np.float32)}
