"""The inputs of all_gather_tiled. Every case is a dict in the order of the entry point's arguments.

The first argument is called after the dimension that is split, since problem.toml says by name how an array arrives:
w0 is split along dimension 0, w1 along 1, w2 along 2. Arguments are passed by position, so a submission sees `w`.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]


def public_cases() -> list[Case]:
    """One parameter that a student sees in full: element [i, j] is 8 i + j, which shows where each one came from."""
    return [{"w0": np.arange(128, dtype=np.float32).reshape(16, 8), "dim": 0}]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it.

    8 divides every dimension, also those that are not split: gathering along a wrong one is a mistake, never an error.
    """
    yield {"w0": rng.standard_normal((16, 8), dtype=np.float32), "dim": 0}
    yield {"w1": rng.standard_normal((24, 64), dtype=np.float32), "dim": 1}
    yield {"w2": rng.standard_normal((8, 16, 40), dtype=np.float32), "dim": 2}
