"""The inputs of tp_attention_heads: arguments of tp_attention after the mesh, in their order."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]

# Sequences, positions, features, query heads, kv heads, and numbers in a head. On no mesh are two of them, whole or
# split, equal. Two of 8 devices share a kv head here, and each of 4 has its own.
SIZES = 2, 40, 56, 24, 4, 12
# Four of 8 devices share a kv head, and two of 4.
FEWER_KV_HEADS = 5, 24, 44, 32, 2, 20


def public_cases() -> list[Case]:
    return [_draw(np.random.default_rng(0), *SIZES)]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it."""
    yield _draw(rng, *SIZES)
    yield _draw(rng, *FEWER_KV_HEADS)


def _draw(
    rng: np.random.Generator, batch: int, positions: int, width: int, heads: int, kv_heads: int, size: int
) -> Case:
    def weight(*shape: int, gain: float, summed: int) -> np.ndarray:
        return (rng.standard_normal(shape) * gain / np.sqrt(summed)).astype(np.float32)

    return {
        # A gain above 1 keeps the softmax away from a plain mean.
        "wq": weight(width, heads, size, gain=1.5, summed=width),
        "wk": weight(width, kv_heads, size, gain=1.5, summed=width),
        "wv": weight(width, kv_heads, size, gain=1.5, summed=width),
        "wo": weight(heads, size, width, gain=1.5, summed=heads * size),
        "x": rng.standard_normal((batch, positions, width), dtype=np.float32),
    }
