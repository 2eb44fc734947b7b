"""Activations that are kept for the backward pass, if only some are.

L layers in C segments: the input of each segment is kept, and one segment at a time is computed again with all that its
layers need. Source: Chen et al., https://arxiv.org/abs/1604.06174, section 4.1. With equal sizes, C + L / C is least at
C = sqrt(L).
"""

import math

from app.learning.calculators.formulas.impossible_inputs import Impossible, Outputs


def checkpointing(*, layers: int, segments: int, layer_bytes: int, boundary_bytes: int) -> Outputs:
    """`layer_bytes` is what the backward pass of one layer needs, `boundary_bytes` the layer's input alone."""
    if segments > layers:
        raise Impossible("segments", f"{layers} layers have at most {layers} segments.")
    if boundary_bytes > layer_bytes:
        raise Impossible("boundary_bytes", "The input of a layer is part of what its backward pass needs.")
    peak = _peak(layers, segments, layer_bytes, boundary_bytes)
    everything = layers * layer_bytes
    best = min(_candidates(layers), key=lambda each: _peak(layers, each, layer_bytes, boundary_bytes))
    return {
        "kept": peak,
        "everything": everything,
        "ratio": peak / everything,
        "best_segments": best,
        "best_kept": _peak(layers, best, layer_bytes, boundary_bytes),
        "recomputed": (layers - math.ceil(layers / segments)) / layers,
    }


def _peak(layers: int, segments: int, layer_bytes: int, boundary_bytes: int) -> int:
    longest = -(-layers // segments)
    return segments * boundary_bytes + longest * layer_bytes


def _candidates(layers: int) -> set[int]:
    """The fewest segments of each longest length. One of them is best: more segments of this length only add inputs."""
    root = range(1, math.isqrt(layers) + 1)
    return {*root, *(-(-layers // length) for length in root)}
