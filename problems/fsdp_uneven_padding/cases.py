"""The inputs of fsdp_uneven_padding: a seed, and tokens and targets for each of three steps."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]

STEPS, ROWS, TOKENS, VOCABULARY, D_OUT = 3, 192, 8, 321, 7


def public_cases() -> list[Case]:
    """One case, drawn from a public seed."""
    return [_draw(np.random.default_rng(0), seed=0)]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it."""
    yield _draw(rng, seed=1)
    # Targets that grow from device to device, so that no device's own gradient is the mean.
    yield _draw(rng, seed=2_000_000_011, ramp=True)


def _draw(rng: np.random.Generator, *, seed: int, ramp: bool = False) -> Case:
    x = rng.integers(0, VOCABULARY, (STEPS, ROWS, TOKENS), dtype=np.int32)
    # Every row has one of the last tokens. Their weights are at the end of the vector, next to the padding.
    x[:, :, 0] = VOCABULARY - 1 - np.arange(ROWS) % 4
    # No mean gradient is near 0: the offset is the same for each output.
    y = rng.standard_normal((STEPS, ROWS, D_OUT), dtype=np.float32) + np.float32(2.0)
    if ramp:
        y = y * np.linspace(0.25, 1.5, ROWS, dtype=np.float32)[:, None]
    return {"seed": seed, "x": x, "y": y}
