"""The inputs of token_weighted_loss: a seed, and six microbatches of padded sequences for each step."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]

STEPS, MICROBATCHES, ROWS, LENGTH, CLASSES = 2, 6, 40, 32, 64
MORE_ROWS, LESS_LENGTH = 56, 24


def public_cases() -> list[Case]:
    """Sequences of any length, longer ones first: the first device has more tokens than the last one."""
    return [_draw(np.random.default_rng(0), seed=0)]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it."""
    # A last device without any token, on 8 devices and on 4. Some tokens within a sequence do not count.
    yield _draw(rng, seed=3, empty_rows=ROWS // 4, holes=True)
    # A last microbatch without any token. More and shorter sequences, with padding first, and a seed of 31 bits.
    yield _draw(rng, seed=2_000_000_011, rows=MORE_ROWS, length=LESS_LENGTH, empty_microbatches=1, is_padded_first=True)


def _draw(
    rng: np.random.Generator,
    *,
    seed: int,
    rows: int = ROWS,
    length: int = LENGTH,
    empty_rows: int = 0,
    empty_microbatches: int = 0,
    holes: bool = False,
    is_padded_first: bool = False,
) -> Case:
    shape = (STEPS, MICROBATCHES, rows, length)
    text = rng.integers(0, CLASSES, (*shape[:-1], length + 1))
    # After a token comes one of its neighbours, so that there is something to learn.
    text[..., 1:] = np.where(rng.random(shape) < 0.7, (text[..., :-1] + 1) % CLASSES, text[..., 1:])
    lengths = rng.integers(1, length + 1, shape[:-1])
    lengths = -np.sort(-lengths, axis=-1)
    # Microbatches differ, too: the first one is full, and the later ones are shorter and shorter.
    shrink = np.linspace(1.0, 0.2, MICROBATCHES)[:, None]
    lengths = np.maximum(1, (lengths * shrink).astype(int))
    if empty_rows:
        lengths[..., -empty_rows:] = 0
    if empty_microbatches:
        lengths[:, -empty_microbatches:] = 0
    mask = np.arange(length) < lengths[..., None]
    if is_padded_first:
        mask = mask[..., ::-1]
    if holes:
        mask = mask & (rng.random(shape) < 0.7)
    return {
        "seed": seed,
        "tokens": text[..., :-1].astype(np.int32),
        "targets": text[..., 1:].astype(np.int32),
        "mask": mask.astype(np.float32),
    }
