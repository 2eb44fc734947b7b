"""The inputs of accumulate_in_a_scan. Every case is a dict in the order of the entry point's arguments."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]

WIDTH, HIDDEN, OUT = 20, 48, 6


def public_cases() -> list[Case]:
    """Six microbatches of 16 rows."""
    return [_draw(np.random.default_rng(0), microbatches=6, rows=16)]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it."""
    yield _draw(rng, microbatches=10, rows=28)
    yield _draw(rng, microbatches=24, rows=15)
    yield _draw(rng, microbatches=2, rows=33)


def _draw(rng: np.random.Generator, *, microbatches: int, rows: int) -> Case:
    def normal(*shape: int, scale: float = 1.0) -> np.ndarray:
        return (scale * rng.standard_normal(shape)).astype(np.float32)

    # Rows grow from the first to the last, so no microbatch is like another one.
    x = normal(microbatches * rows, WIDTH) * np.linspace(0.5, 1.5, microbatches * rows, dtype=np.float32)[:, None]
    return {
        "up": normal(WIDTH, HIDDEN, scale=0.25),
        "mid": normal(HIDDEN, HIDDEN, scale=0.2),
        "down": normal(HIDDEN, OUT, scale=0.2),
        "x": x,
        "y": np.sin(2 * x[:, :OUT]) + np.float32(0.5),
        "microbatches": microbatches,
    }
