"""The inputs of moe_dispatch: arguments of moe after the mesh, in their order."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]

# No two dimensions are equal, whole or divided by 4 or 8, so a length identifies a dimension.
GROUPS, EXPERTS, WIDTH, HIDDEN = 24, 16, 40, 96


def public_cases() -> list[Case]:
    return [_draw(np.random.default_rng(0), tokens=36, capacity=5)]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it."""
    yield _draw(rng, tokens=36, capacity=5)
    # Most tokens of a group choose one of a few experts, so most are dropped.
    yield _draw(rng, tokens=36, capacity=5, favour=3.0)
    # Shorter groups and larger buffers: few tokens are dropped, and most slots stay empty.
    yield _draw(rng, tokens=28, capacity=7)


def _draw(rng: np.random.Generator, *, tokens: int, capacity: int, favour: float = 1.0) -> Case:
    def normal(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape, dtype=np.float32)

    # The tokens of a group have a direction in common, so some experts get more than `capacity` of them. It differs
    # from group to group, so that an expert that overflows in one group has room in another.
    x = normal(GROUPS, tokens, WIDTH) + np.float32(favour) * normal(GROUPS, 1, WIDTH)
    return {
        "x": x,
        "router": normal(WIDTH, EXPERTS) * np.float32(2 / np.sqrt(WIDTH)),
        "up": normal(EXPERTS, WIDTH, HIDDEN) / np.float32(np.sqrt(WIDTH)),
        "down": normal(EXPERTS, HIDDEN, WIDTH) / np.float32(np.sqrt(HIDDEN)),
        "capacity": capacity,
    }
