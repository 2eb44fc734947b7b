"""Draws what a device holds in a block, positions exchanged for heads, and a ring's turns, from host devices."""

from collections.abc import Sequence

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from tests.lessons.attention import to_heads, turns

_N, _SHOWN = 4, 1
_MESH = Mesh(np.array(jax.devices()[:_N]), ("x",))
_WHOLE, _ROWS, _COLUMNS = P(), P("x"), P(None, "x")
# Of a block: what activations are called, their columns, and the spec with which they are stored.
_TENSOR = [("norm", 4, _WHOLE), ("input", 4, _WHOLE), ("hidden", 8, _COLUMNS), ("result", 4, _WHOLE)]
_SEQUENCE = [("norm", 4, _ROWS), ("input", 4, _WHOLE), ("hidden", 8, _COLUMNS), ("result", 4, _ROWS)]
_UNIT, _GAP, _CELL = 12, 36, 34


def _svg(name: str, title: str, what: str, height: int, body: Sequence[str]) -> str:
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 360 {height}" role="img" '
        f'aria-labelledby="{name}-title {name}-desc">',
        f'<title id="{name}-title">{title}</title>',
        f'<desc id="{name}-desc">{what}</desc>',
        *body,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _held(columns: int, spec: P) -> tuple[slice, slice]:
    """What the second device holds of so many columns, as ranges of rows and columns."""
    shape = (_N, columns)
    rows, held = NamedSharding(_MESH, spec).devices_indices_map(shape)[_MESH.devices[_SHOWN]]
    return slice(*rows.indices(_N)[:2]), slice(*held.indices(columns)[:2])


def _activations(top: int, name: str, parts: Sequence[tuple[str, int, P]], between: dict[int, str]) -> list[str]:
    """A line of activations. `between` has the collective before a part, by the part's place."""
    body, x, y = [f'<text x="4" y="{top + 14}">{name}</text>'], 4, top + 44
    for at, (label, columns, spec) in enumerate(parts):
        wide, (rows, held) = columns * _UNIT, _held(columns, spec)
        if at:
            body.append(f'<text x="{x - _GAP // 2}" y="{y + 28}" text-anchor="middle">→</text>')
        if at in between:
            body.append(f'<text x="{x - _GAP // 2}" y="{y + 66}" text-anchor="middle">{between[at]}</text>')
        body += [
            f'<text x="{x + wide // 2}" y="{y - 8}" text-anchor="middle" class="soft-text">{label}</text>',
            f'<rect x="{x}" y="{y}" width="{wide}" height="{_N * _UNIT}" class="faint"/>',
            f'<rect x="{x + held.start * _UNIT}" y="{y + rows.start * _UNIT}" '
            f'width="{(held.stop - held.start) * _UNIT}" height="{(rows.stop - rows.start) * _UNIT}" '
            f'class="held of-{_SHOWN + 1}"/>',
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
    return _svg("block", "What the second of four devices holds of the activations of a block", what, 244, body)


def _heads() -> str:
    """Each cell has its device before or after an all_to_all that ran on host devices."""
    cells = np.arange(_N * _N).reshape(_N, _N)
    before = np.repeat(np.arange(_N), _N).reshape(_N, _N)
    moved = jax.shard_map(to_heads, mesh=_MESH, in_specs=_ROWS, out_specs=_COLUMNS)(cells)
    assert (np.asarray(moved) == cells).all()
    after = np.empty_like(cells)
    for shard in moved.addressable_shards:
        after[shard.index] = _MESH.devices.tolist().index(shard.device)
    body = []
    for left, name, owners in ((40, "before", before), (216, "after", after)):
        middle = left + _N * _CELL // 2
        body += [
            f'<text x="{middle}" y="14" text-anchor="middle">{name}</text>',
            f'<text x="{middle}" y="34" text-anchor="middle" class="soft-text">heads</text>',
        ]
        for row in range(_N):
            for column in range(_N):
                x, y, owner = left + column * _CELL, 42 + row * _CELL, int(owners[row, column])
                body += [
                    f'<rect x="{x}" y="{y}" width="{_CELL}" height="{_CELL}" class="held of-{owner + 1}"/>',
                    f'<text x="{x + _CELL // 2}" y="{y + 22}" text-anchor="middle" class="on-held">{owner}</text>',
                ]
        y = 42 + _N * _CELL // 2
        body.append(
            f'<text x="{left - 12}" y="{y}" text-anchor="middle" class="soft-text" '
            f'transform="rotate(-90 {left - 12} {y})">positions</text>'
        )
    what = "Before, each device has a row: one part of the positions, all heads. After, each has a column."
    return _svg("heads", "Which of four devices has each part of the positions and heads", what, 184, body)


def _turn(owners: list[list[int]], turn: int) -> str:
    """The scores of each device's queries with each device's keys: computed before, computed now, or not yet."""
    left, top, what = 84, 44, []
    body = [f'<text x="{left + _N * 33}" y="14" text-anchor="middle" class="soft-text">keys of device</text>']
    body += [
        f'<text x="{left + keys * 66 + 32}" y="34" text-anchor="middle" class="soft-text">{keys}</text>'
        for keys in range(_N)
    ]
    for device in range(_N):
        y, now = top + device * 30, owners[turn][device]
        before = [owners[earlier][device] for earlier in range(turn)]
        body.append(f'<text x="4" y="{y + 18}" class="soft-text">device {device}</text>')
        for keys in range(_N):
            x = left + keys * 66
            kind = f"held of-{keys + 1}" if keys == now else f"term of-{keys + 1}" if keys in before else "faint"
            body.append(f'<rect x="{x}" y="{y}" width="64" height="26" class="{kind}"/>')
            if keys == now or keys in before:
                text, drawn = ("now", ' class="on-held"') if keys == now else ("done", "")
                body.append(f'<text x="{x + 32}" y="{y + 18}" text-anchor="middle"{drawn}>{text}</text>')
        what.append(f"Device {device} has the keys of device {now}.")
    title = f"Ring attention on {_N} devices: turn {turn + 1}"
    return _svg(f"turn-{turn + 1}", title, " ".join(what), top + _N * 30 + 2, body)


def figures() -> dict[str, str]:
    owners = turns(_N)
    drawn = {f"turn_{turn + 1}.svg": _turn(owners, turn) for turn in range(_N)}
    return {"block.svg": _block(), "heads.svg": _heads(), **drawn}
