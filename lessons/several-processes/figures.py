"""Draws which rows the devices of two processes hold, on meshes of host devices that stand for theirs."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from tests.lessons.drawing import cell, svg, text

_ROWS, _PER_PROCESS = 8, 4
_LEFT, _GAP, _WIDE, _TOP, _HIGH = 4, 184, 42, 26, 34
_MESHES = {
    "one_axis": ((8,), ("data",)),
    "within": ((2, 4), ("data", "model")),
    "across": ((2, 4), ("model", "data")),
}


def _in_words(rows: list[int], between: str = " to ") -> str:
    return str(rows[0]) if len(rows) == 1 else f"{rows[0]}{between}{rows[-1]}"


def _placed(name: str, shape: tuple[int, ...], axes: tuple[str, ...]) -> str:
    devices = jax.devices()
    sharding = NamedSharding(Mesh(np.array(devices).reshape(shape), axes), P("data"))
    places = sharding.devices_indices_map((_ROWS,))
    body, said = [], []
    for process in range(2):
        own, left = set(), _LEFT + process * (_GAP - _LEFT)
        body.append(text(left, 14, f"process {process}", "soft-text"))
        for number in range(_PER_PROCESS):
            rows = list(range(_ROWS)[places[devices[process * _PER_PROCESS + number]][0]])
            own.update(rows)
            box = (left + number * _WIDE, _TOP, _WIDE, _HIGH)
            body += cell(*box, f"held of-{1 + process}", _in_words(rows, "\N{EN DASH}"), "on-held")
        loads = _in_words(sorted(own))
        body.append(text(left, _TOP + _HIGH + 22, f"loads {loads}"))
        said.append(f"process {process} loads rows {loads}")
    what = f"{_ROWS} rows on a mesh with the axes {' and '.join(axes)}, split over data: {said[0]}, and {said[1]}."
    return svg(f"processes-{name}", "The rows of two processes", what, _TOP + _HIGH + 32, body)


def figures() -> dict[str, str]:
    return {f"{name}.svg": _placed(name, *mesh) for name, mesh in _MESHES.items()}
