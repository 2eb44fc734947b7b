"""The states of ckpt_reshard. Every case is a dict in the order of the entry point's arguments."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]


def public_cases() -> list[Case]:
    """Rows on 8 devices to rows on 6 devices, then columns in it, and then copies on 4 devices."""
    return [
        _numbered([1, 8, 1], [1, 6, 1], (24, 10), step=100),
        _numbered([1, 4, 2], [1, 2, 3], (16, 12), step=200),
        _numbered([1, 8, 1], [2, 2, 1], (16, 5), step=300),
    ]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it."""
    # From rows to columns, and back. Each shard has a part of every piece.
    yield _random(rng, [1, 8, 1], [1, 1, 6], (16, 18))
    yield _random(rng, [1, 1, 8], [1, 4, 1], (20, 48))
    # w was written by half of the devices, and is read by all: three copies of each shard. b is copied over two axes.
    yield _random(rng, [2, 2, 2], [3, 1, 2], (14, 18))
    # 6 columns of a piece, and 9 of a shard, which is in the middle of a piece in the first dimension.
    yield _random(rng, [1, 2, 3], [1, 4, 2], (40, 18))
    # From 6 devices to 8, so that a piece has parts for two shards; and back to 4.
    yield _random(rng, [1, 6, 1], [1, 8, 1], (48, 7))
    yield _random(rng, [1, 2, 3], [2, 1, 2], (10, 54))
    # On the same mesh, each shard is a piece.
    yield _random(rng, [1, 2, 2], [1, 2, 2], (6, 22))


def _numbered(saved: list[int], wanted: list[int], shape: tuple[int, int], *, step: int) -> Case:
    """Numbers that tell where they belong: the last two digits of those in w are the column."""
    rows, columns = (np.arange(size) for size in shape)
    return _case(saved, wanted, rows[:, None] * 100 + columns, columns, step)


def _random(rng: np.random.Generator, saved: list[int], wanted: list[int], shape: tuple[int, int]) -> Case:
    w, b = rng.standard_normal(shape), rng.standard_normal(shape[1])
    return _case(saved, wanted, w, b, int(rng.integers(1, 1_000_000)))


def _case(saved: list[int], wanted: list[int], w: np.ndarray, b: np.ndarray, step: int) -> Case:
    return {
        "saved": saved,
        "wanted": wanted,
        "w": w.astype(np.float32),
        "b": b.astype(np.float16),
        "step": step,
    }
