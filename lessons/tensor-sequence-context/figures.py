"""Draws what a device holds in a block, positions exchanged for heads, and a ring's turns, from host devices."""

from collections.abc import Sequence

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from tests.lessons.attention import to_heads, turns
from tests.lessons.drawing import cell, rect, svg, text

_N, _SHOWN = 4, 1
_MESH = Mesh(np.array(jax.devices()[:_N]), ("x",))
_WHOLE, _ROWS, _COLUMNS = P(), P("x"), P(None, "x")
# The activations of a block: what they are called, their columns, and the spec with which they are stored.
_TENSOR = [("norm", 4, _WHOLE), ("input", 4, _WHOLE), ("hidden", 8, _COLUMNS), ("result", 4, _WHOLE)]
_SEQUENCE = [("norm", 4, _ROWS), ("input", 4, _WHOLE), ("hidden", 8, _COLUMNS), ("result", 4, _ROWS)]
_UNIT, _GAP, _CELL = 12, 36, 34


def _held(columns: int, spec: P) -> tuple[slice, slice]:
    """Return the rows and the columns that the second device holds of an array with this many columns."""
    shape = (_N, columns)
    rows, held = NamedSharding(_MESH, spec).devices_indices_map(shape)[_MESH.devices[_SHOWN]]
    return slice(*rows.indices(_N)[:2]), slice(*held.indices(columns)[:2])


def _activations(top: int, name: str, parts: Sequence[tuple[str, int, P]], between: dict[int, str]) -> list[str]:
    """Draw a line of activations. `between` has the collective before a part, by the part's place."""
    body, x, y = [text(4, top + 14, name)], 4, top + 44
    for at, (label, columns, spec) in enumerate(parts):
        wide, (rows, held) = columns * _UNIT, _held(columns, spec)
        if at:
            body.append(text(x - _GAP / 2, y + 28, "→", "", "middle"))
        if at in between:
            body.append(text(x - _GAP / 2, y + 66, between[at], "", "middle"))
        left, right = x + held.start * _UNIT, x + held.stop * _UNIT
        high = (rows.stop - rows.start) * _UNIT
        body += [
            text(x + wide / 2, y - 8, label, "soft-text", "middle"),
            rect(x, y, wide, _N * _UNIT, "faint"),
            rect(left, y + rows.start * _UNIT, right - left, high, f"held of-{_SHOWN + 1}"),
        ]
        x += wide + _GAP
    return body


def _block() -> str:
    body = _activations(0, "tensor", _TENSOR, {3: "all_reduce"})
    body += _activations(126, "tensor and sequence", _SEQUENCE, {1: "all_gather", 3: "reduce_scatter"})
    what = (
        "Rows are positions. Tensor parallelism: all positions in the norm, in the input and, after an all_reduce, in "
        "the result; some hidden units of all positions. With sequence parallelism: some positions in the norm, all of "
        "them in the input after an all_gather, some hidden units, and some positions in the result after a "
        "reduce_scatter."
    )
    return svg("block", "What the second of four devices holds of the activations of a block", what, 244, body)


def _heads() -> str:
    """Draw the device of each cell before and after an all_to_all that ran on host devices."""
    cells = np.arange(_N * _N).reshape(_N, _N)
    before = np.repeat(np.arange(_N), _N).reshape(_N, _N)
    moved = jax.shard_map(to_heads, mesh=_MESH, in_specs=_ROWS, out_specs=_COLUMNS)(cells)
    assert (np.asarray(moved) == cells).all()
    after = np.empty_like(cells)
    for shard in moved.addressable_shards:
        after[shard.index] = _MESH.devices.tolist().index(shard.device)
    body = []
    for left, name, owners in ((64, "before", before), (220, "after", after)):
        middle = left + _N * _CELL / 2
        body += [text(middle, 14, name, "", "middle"), text(middle, 34, "heads", "soft-text", "middle")]
        for (row, column), owner in np.ndenumerate(owners):
            box = (left + column * _CELL, 42 + row * _CELL, _CELL, _CELL)
            body += cell(*box, f"held of-{owner + 1}", owner, "on-held")
    body.append(text(4, 42 + _N * _CELL / 2 + 4, "positions", "soft-text"))
    what = "Before, each device has a row: one part of the positions, all heads. After, each has a column."
    return svg("heads", "Which of four devices has each part of the positions and heads", what, 184, body)


def _turn(owners: list[list[int]], turn: int) -> str:
    """Draw which scores of each device's queries with each device's keys are done, are computed now, or are not yet."""
    left, top, what = 84, 44, []
    body = [text(left + _N * 33, 14, "keys of device", "soft-text", "middle")]
    body += [text(left + keys * 66 + 32, 34, keys, "soft-text", "middle") for keys in range(_N)]
    for device in range(_N):
        y, now = top + device * 30, owners[turn][device]
        before = [owners[earlier][device] for earlier in range(turn)]
        body.append(text(4, y + 18, f"device {device}", "soft-text"))
        for keys in range(_N):
            box = (left + keys * 66, y, 64, 26)
            if keys == now:
                body += cell(*box, f"held of-{keys + 1}", "now", "on-held")
            elif keys in before:
                body += cell(*box, f"term of-{keys + 1}", "done")
            else:
                body.append(rect(*box, "faint"))
        what.append(f"Device {device} has the keys of device {now}.")
    title = f"Ring attention on {_N} devices: turn {turn + 1}"
    return svg(f"turn-{turn + 1}", title, " ".join(what), top + _N * 30 + 2, body)


def figures() -> dict[str, str]:
    owners = turns(_N)
    drawn = {f"turn_{turn + 1}.svg": _turn(owners, turn) for turn in range(_N)}
    return {"block.svg": _block(), "heads.svg": _heads(), **drawn}
