"""Draws what four devices have before and after each collective, from what the collective really returns."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

_N = 4
_MESH = Mesh(np.array(jax.devices()[:_N]), ("x",))
_CELL, _LEFT, _RIGHT, _TOP = 30, 58, 236, 40
# What device d puts in for part p is (p + 1) * 10**d: a value says which part it is, and whose terms are in it.
_TERMS = np.array([[(part + 1) * 10**device for part in range(_N)] for device in range(_N)])
_ALL_TERMS = int("1" * _N)
_LETTERS = "abcd"


class Cell(NamedTuple):
    """`colour` counts from 1. A cell that is not solid is one term of a sum."""

    label: str
    colour: int
    solid: bool = True


# What each device holds, by column of its row.
Rows = Sequence[dict[int, Cell]]


def _after(body: Callable[[jax.Array], jax.Array], values: np.ndarray) -> list[np.ndarray]:
    """What each device holds afterwards, in the order of the devices."""
    run = jax.shard_map(body, mesh=_MESH, in_specs=P("x"), out_specs=P("x"), check_vma=False)
    return [part.ravel() for part in np.split(np.asarray(run(values)), _N)]


def _sums(parts: Sequence[np.ndarray]) -> Rows:
    """Each value as the part that it is a term of, or the sum of."""

    def cell(value: int) -> Cell:
        part = int(str(value)[0])
        return Cell(f"\u03a3{part - 1}", part) if value % _ALL_TERMS == 0 else Cell(str(part - 1), part, False)

    cells = [[cell(int(value)) for value in part] for part in parts]
    return [{each.colour - 1: each for each in row} for row in cells]


def _copies(parts: Sequence[np.ndarray]) -> Rows:
    """Each value as the part that it is a copy of."""
    return [{int(value): Cell(str(value), int(value) + 1) for value in part} for part in parts]


def _blocks(parts: Sequence[np.ndarray]) -> Rows:
    """Each value, 10 * row + column, as the row and the letter of the column."""
    found = [[divmod(int(value), 10) for value in part] for part in parts]
    return [
        {at: Cell(f"{row}{_LETTERS[column]}", column + 1) for at, (row, column) in enumerate(part)} for part in found
    ]


def _grid(left: int, name: str, rows: Rows) -> list[str]:
    body = [f'<text x="{left + _N * _CELL // 2}" y="30" text-anchor="middle" class="soft-text">{name}</text>']
    for device, row in enumerate(rows):
        for at in range(_N):
            x, y, cell = left + at * _CELL, _TOP + device * _CELL, row.get(at)
            kind = "faint" if cell is None else f"held of-{cell.colour}" if cell.solid else "cell"
            body.append(f'<rect x="{x}" y="{y}" width="{_CELL}" height="{_CELL}" class="{kind}"/>')
            if cell is not None:
                kind = "on-held" if cell.solid else "term"
                middle = f'x="{x + _CELL // 2}" y="{y + _CELL // 2 + 5}" text-anchor="middle"'
                body.append(f'<text {middle} class="{kind}">{cell.label}</text>')
    return body


def _drawing(name: str, before: Rows, after: Rows, what: str) -> str:
    devices = [
        f'<text x="4" y="{_TOP + device * _CELL + _CELL // 2 + 4}" class="soft-text">device {device}</text>'
        for device in range(_N)
    ]
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 360 {_TOP + _N * _CELL + 8}" role="img" '
        f'aria-labelledby="{name}-title {name}-desc">',
        f'<title id="{name}-title">{name} on four devices</title>',
        f'<desc id="{name}-desc">{what}</desc>',
        *devices,
        *_grid(_LEFT, "before", before),
        f'<text x="207" y="{_TOP + _N * _CELL // 2 + 5}" text-anchor="middle">\u2192</text>',
        *_grid(_RIGHT, "after", after),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def figures() -> dict[str, str]:
    own = np.arange(_N)
    blocks = np.array([[10 * row + column for column in range(_N)] for row in range(_N)])
    gathered = _after(lambda shard: lax.all_gather(shard, "x", tiled=True), own)
    scattered = _after(lambda term: lax.psum_scatter(term[0], "x", tiled=True), _TERMS)
    reduced = _after(lambda term: lax.psum(term[0], "x"), _TERMS)
    swapped = _after(lambda shard: lax.all_to_all(shard, "x", 1, 0, tiled=True), blocks)
    return {
        "gather.svg": _drawing(
            "all_gather",
            _copies(np.split(own, _N)),
            _copies(gathered),
            "Before, each device holds one part. After, each device holds all four.",
        ),
        "scatter.svg": _drawing(
            "reduce_scatter",
            _sums(list(_TERMS)),
            _sums(scattered),
            "Before, each device holds a term of every part. After, each device holds the sum of one part.",
        ),
        "reduce.svg": _drawing(
            "all_reduce",
            _sums(list(_TERMS)),
            _sums(reduced),
            "Before, each device holds a term of every part. After, each device holds the sum of every part.",
        ),
        "to_all.svg": _drawing(
            "all_to_all",
            _blocks(list(blocks)),
            _blocks(swapped),
            "Before, each device holds one row of blocks. After, each device holds one column of blocks.",
        ),
    }
