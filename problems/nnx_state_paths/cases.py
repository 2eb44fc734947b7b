"""The models of nnx_state_paths. Every case is a dict in the order of the entry point's arguments."""

from collections.abc import Iterator

import numpy as np

Case = dict[str, int]


def public_cases() -> list[Case]:
    """A small model in which nothing is shared, and a large one in which blocks and a table are."""
    return [
        {"vocab": 10, "width": 4, "depth": 1, "repeats": 1, "rank": 2, "tied": 0},
        {"vocab": 32000, "width": 4096, "depth": 2, "repeats": 2, "rank": 8, "tied": 1},
    ]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it."""
    yield _draw(rng, depth=3, repeats=1, tied=0)
    # Block 10 comes after block 9, and only text puts it before block 2.
    yield _draw(rng, depth=11, repeats=1, tied=0)
    # Each kind of sharing alone.
    yield _draw(rng, depth=2, repeats=1, tied=1)
    yield _draw(rng, depth=2, repeats=3, tied=0)


def _draw(rng: np.random.Generator, *, depth: int, repeats: int, tied: int) -> Case:
    """Sizes that differ, so that a shape shows which dimension is which."""
    return {
        "vocab": int(rng.integers(10_000, 200_000)),
        "width": int(rng.integers(256, 8_000)),
        "depth": depth,
        "repeats": repeats,
        "rank": int(rng.integers(2, 200)),
        "tied": tied,
    }
