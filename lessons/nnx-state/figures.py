"""Draws what a device holds of stacked kernels and of a moment, from the shardings that nnx gave them."""

from typing import Any

import jax
import optax
from flax import nnx
from jax.sharding import Mesh

from tests.lessons.drawing import rect, svg, text

_MESH = Mesh(jax.devices(), ("model",))
_DEVICE = jax.devices()[2]
_LAYERS, _ROWS, _COLUMNS = 4, 16, 64
_TOP, _LAYER, _GAP = 28, 32, 10
_LEFTS, _WIDE = (60, 214), 140
_SPLIT: dict[str, Any] = {"out_sharding": (None, "model")}
_CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "whole": ("No metadata", {}, {}),
    "missing": ("Metadata without an entry for the layers", _SPLIT, {}),
    "entry": ("Metadata with an entry for the layers", _SPLIT, {nnx.PARTITION_NAME: None}),
}


def _arrays(metadata: dict[str, Any], entry: dict[str, Any]) -> dict[str, jax.Array]:
    """A stack of kernels, and the first moment that an optimizer has for it."""

    def layer(rngs: nnx.Rngs) -> nnx.Linear:
        return nnx.Linear(_ROWS, _COLUMNS, kernel_metadata=metadata, rngs=rngs)

    with jax.set_mesh(_MESH):
        stack = nnx.vmap(layer, transform_metadata=entry)(nnx.Rngs(0).split(_LAYERS))
        optimizer = nnx.Optimizer(stack, optax.adam(1e-3), wrt=nnx.Param)
    return {"kernel": stack.kernel.get_value(), "moment": optimizer.opt_state[0].mu["kernel"].get_value()}


def _drawn(left: float, array: jax.Array) -> tuple[list[str], str]:
    """The layers of an array with the part that the device holds, and that part in words."""
    where = array.sharding.devices_indices_map(array.shape)[_DEVICE]
    layers, rows, columns = (range(*each.indices(size)) for each, size in zip(where, array.shape, strict=True))
    body = []
    for layer in range(_LAYERS):
        y = _TOP + layer * (_LAYER + _GAP)
        if layer in layers:
            x = left + _WIDE * columns.start / _COLUMNS
            top, height = y + _LAYER * rows.start / _ROWS, _LAYER * len(rows) / _ROWS
            body.append(rect(x, top, _WIDE * len(columns) / _COLUMNS, height, "held of-1"))
        body.append(rect(left, y, _WIDE, _LAYER, "faint"))
    return body, f"{len(rows)} of {_ROWS} rows and {len(columns)} of {_COLUMNS} columns of {len(layers)} layers"


def figures() -> dict[str, str]:
    drawn = {}
    for name, (title, metadata, entry) in _CASES.items():
        body = [text(4, _TOP + n * (_LAYER + _GAP) + 21, f"layer {n}", "soft-text") for n in range(_LAYERS)]
        said = []
        for left, (what, array) in zip(_LEFTS, _arrays(metadata, entry).items(), strict=True):
            (held,) = [each.data.nbytes for each in array.addressable_shards if each.device == _DEVICE]
            parts, words = _drawn(left, array)
            body += [text(left, 16, f"{what}: {held:,} bytes"), *parts]
            said.append(f"of the {what} {words}")
        height = _TOP + _LAYERS * (_LAYER + _GAP)
        drawn[f"{name}.svg"] = svg(f"stack-{name}", title, f"The device holds {' and '.join(said)}.", height, body)
    return drawn
