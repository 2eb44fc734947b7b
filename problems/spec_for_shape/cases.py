"""The leaves of spec_for_shape. Every case is a dict in the order of the entry point's arguments."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]
Shape = tuple[int, ...]


def public_cases() -> list[Case]:
    """Leaves whose elements are numbered. 8 devices divide no dimension of the kernel; 7, 6 and 4 each divide one."""
    shapes: list[Shape] = [(16, 8), (12, 14), (2, 4, 8), (10,), ()]
    return [{"least": 32} | _leaves([np.arange(_size(shape)).reshape(shape) for shape in shapes])]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it."""
    # 257 and 13 are primes that divide nothing here. Of the table, a smaller dimension is split.
    yield {"least": 1} | _random(rng, [(257, 24), (13, 7), (4, 56, 12), (10,), ()])
    # Dimensions of the same size: alone, and beside a smaller or a larger one that only some meshes divide.
    yield {"least": 1} | _random(rng, [(56, 56), (24, 24), (24, 56, 56), (168,), ()])
    yield {"least": 1} | _random(rng, [(8, 7), (31, 24), (28, 29, 28), (8,), ()])
    # The threshold counts elements: exactly as many as it has, fewer, as many in three dimensions, and one less.
    yield {"least": 168 * 4} | _random(rng, [(168, 4), (168, 3), (2, 2, 168), (671,), ()])
    # Of the experts, the largest dimension is not divisible, and of the other two the second one is larger.
    yield {"least": 169} | _random(rng, [(168, 1), (169, 1), (8, 16, 17), (168,), ()])
    # Every mesh has as many devices as one of these dimensions: then a device gets one row.
    yield {"least": 6} | _random(rng, [(1, 8), (6, 7), (4, 1, 6), (7,), ()])


def _random(rng: np.random.Generator, shapes: list[Shape]) -> dict[str, Any]:
    return _leaves([rng.uniform(1.0, 2.0, shape) for shape in shapes])


def _leaves(arrays: list[np.ndarray]) -> dict[str, Any]:
    names = ("table", "kernel", "experts", "bias", "count")
    return {name: np.asarray(each, dtype=np.float32) for name, each in zip(names, arrays, strict=True)}


def _size(shape: Shape) -> int:
    return int(np.prod(shape))
