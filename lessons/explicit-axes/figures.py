"""Draws what each device has of a product, for three shardings of it, from JAX's own map of indices."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from tests.lessons.drawing import rect, svg, text

_N, _UNIT, _WIDE = 4, 18, 84
_MESH = Mesh(np.array(jax.devices()[:_N]), ("x",))


def _held(name: str, spec: P, what: str) -> str:
    shape, body = (_N, _N), []
    indices = NamedSharding(_MESH, spec).devices_indices_map(shape)
    for number, device in enumerate(_MESH.devices):
        left, top = 6 + number * _WIDE, 30
        rows, columns = (slice(*each.indices(_N)[:2]) for each in indices[device])
        body.append(text(left + _N * _UNIT / 2, 18, f"device {number}", "soft-text", "middle"))
        for row, column in np.ndindex(shape):
            is_held = rows.start <= row < rows.stop and columns.start <= column < columns.stop
            kind = f"held of-{number + 1}" if is_held else "faint"
            body.append(rect(left + column * _UNIT, top + row * _UNIT, _UNIT, _UNIT, kind))
    return svg(name, f"A product on four devices with out_sharding={what}", _said(name), 30 + _N * _UNIT + 6, body)


def _said(name: str) -> str:
    each = {"whole": "all entries", "rows": "one row of four", "columns": "one column of four"}[name]
    return f"Each device has {each}."


def figures() -> dict[str, str]:
    return {
        "whole.svg": _held("whole", P(), "P()"),
        "rows.svg": _held("rows", P("x"), 'P("x")'),
        "columns.svg": _held("columns", P(None, "x"), 'P(None, "x")'),
    }
