"""The inputs of tp_vocab_ce: arguments of vocab_ce after the mesh, in their order."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]

# Tokens, features, columns, and those columns that count. On no mesh are two of them, whole or split, equal.
SIZES = 88, 48, 640, 613
# On 8 devices, the last one has columns 672 to 767: nothing but padding.
LAST_ONLY_PADDING = 56, 72, 768, 661


def public_cases() -> list[Case]:
    return [_draw(np.random.default_rng(0), *SIZES)]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it."""
    yield _draw(rng, *SIZES)
    yield _draw(rng, *LAST_ONLY_PADDING)


def _draw(rng: np.random.Generator, tokens: int, width: int, columns: int, vocab: int) -> Case:
    # Logits of the first tokens are about 0.01, those of the last ones above 100. Exponentials of large ones overflow,
    # and next to a large one, that of a small one is 0.
    loud = np.geomspace(0.01, 50, tokens)[:, None]
    head = rng.standard_normal((width, columns)) / np.sqrt(width)
    # Padding is no smaller than the rest: a program that counts it is wrong for every token.
    head[:, vocab:] *= 10
    labels = rng.integers(0, vocab, tokens)
    # The first and the last column of the vocabulary and of devices, on both meshes: on loud tokens and on quiet ones.
    edges = [
        0,
        columns // 8 - 1,
        columns // 8,
        columns // 4 - 1,
        columns // 4,
        columns // 2 - 1,
        columns // 2,
        vocab - 1,
    ]
    labels[: 2 * len(edges) : 2] = labels[-2 * len(edges) :: 2] = edges
    return {
        "hidden": (loud * rng.standard_normal((tokens, width))).astype(np.float32),
        "head": head.astype(np.float32),
        "labels": labels.astype(np.int32),
        "vocab": vocab,
    }
