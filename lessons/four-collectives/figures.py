"""Draws what devices have in each round of a ring, and before and after a collective, from what they really return."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from tests.lessons.drawing import BAR_HEIGHT, bar, cell, rect, svg, text
from tests.lessons.rings import gather_rounds, scatter_rounds

_N = 4
_MESH = Mesh(np.array(jax.devices()[:_N]), ("x",))
_CELL, _LEFT, _RIGHT, _TOP = 30, 62, 238, 40
# The rounds are drawn for the ring of the lesson's mesh, and for the array whose bytes the lesson gives.
_RING = len(jax.devices())
_WIDE, _HIGH, _HEAD = 37, 24, 26
_SHARD = jax.numpy.zeros((64, 16)).nbytes // _RING
# Device d contributes (p + 1) * 10**d to part p, so a value tells its part and whose terms it contains.
_TERMS = np.array([[(part + 1) * 10**device for part in range(_N)] for device in range(_N)])
_ALL_TERMS = int("1" * _N)
_LETTERS = "abcd"


class Cell(NamedTuple):
    """`colour` counts from 1. A cell that is not solid is one term of a sum."""

    label: str
    colour: int
    solid: bool = True


# The cells that each device holds, by their columns in its row.
Rows = Sequence[dict[int, Cell]]


def _after(body: Callable[[jax.Array], jax.Array], values: np.ndarray) -> list[np.ndarray]:
    """Run a collective. Returns what each device then holds, in the order of the devices."""
    run = jax.shard_map(body, mesh=_MESH, in_specs=P("x"), out_specs=P("x"), check_vma=False)
    return [part.ravel() for part in np.split(np.asarray(run(values)), _N)]


def _sums(parts: Sequence[np.ndarray]) -> Rows:
    """Label each value with the part of which it is a term or the sum."""

    def read(value: int) -> Cell:
        part = int(str(value)[0])
        return Cell(f"\u03a3{part - 1}", part) if value % _ALL_TERMS == 0 else Cell(str(part - 1), part, False)

    cells = [[read(int(value)) for value in part] for part in parts]
    return [{each.colour - 1: each for each in row} for row in cells]


def _blocks(parts: Sequence[np.ndarray]) -> Rows:
    """Label each value, 10 * row + column, with its row and the letter of its column."""
    found = [[divmod(int(value), 10) for value in part] for part in parts]
    return [
        {at: Cell(f"{row}{_LETTERS[column]}", column + 1) for at, (row, column) in enumerate(part)} for part in found
    ]


def _grid(left: int, name: str, rows: Rows) -> list[str]:
    body = [text(left + _N * _CELL / 2, 30, name, "soft-text", "middle")]
    for device, row in enumerate(rows):
        for at in range(_N):
            box, found = (left + at * _CELL, _TOP + device * _CELL, _CELL, _CELL), row.get(at)
            if found is None:
                body.append(rect(*box, "faint"))
            elif found.solid:
                body += cell(*box, f"held of-{found.colour}", found.label, "on-held")
            else:
                body += cell(*box, f"term of-{found.colour}", found.label)
    return body


def _drawing(name: str, before: Rows, after: Rows, what: str) -> str:
    body = [text(4, _TOP + (device + 0.5) * _CELL + 4, f"device {device}", "soft-text") for device in range(_N)]
    body += _grid(_LEFT, "before", before)
    body.append(text(210, _TOP + _N * _CELL / 2 + 5, "\u2192", "", "middle"))
    body += _grid(_RIGHT, "after", after)
    return svg(name, f"{name} on four devices", what, _TOP + _N * _CELL + 8, body)


def _round(name: str, number: int, kinds: Sequence[dict[int, str]], sums: Sequence[int], held: int, what: str) -> str:
    """Draw what each device has in a round. `kinds` has the class of each of its parts, `sums` the terms in its sum."""
    body = [text(4, 16, "part", "soft-text")]
    body += [text(_LEFT + (part + 0.5) * _WIDE, 16, part, "soft-text", "middle") for part in range(_RING)]
    for device, row in enumerate(kinds):
        y = _HEAD + device * _HIGH
        body.append(text(4, y + 17, f"device {device}", "soft-text"))
        for part in range(_RING):
            box, kind = (_LEFT + part * _WIDE, y, _WIDE, _HIGH), row.get(part, "faint")
            if kind == "held" and sums:
                body += cell(*box, f"held of-{part + 1}", sums[device], "on-held")
            else:
                body.append(rect(*box, kind if kind == "faint" else f"{kind} of-{part + 1}"))
    y, most, sent = _HEAD + _RING * _HIGH + 8, _RING * _SHARD, number * _SHARD
    body += bar(y, "each holds", f"{held:,} bytes", [(held, 1)], most)
    body += bar(y + BAR_HEIGHT, "has sent", f"{sent:,} bytes", [(sent, 2)], most)
    what = f"{what} Each holds {held:,} bytes and has sent {sent:,} bytes."
    return svg(f"{name}-{number}", f"{name} around a ring: round {number}", what, y + 2 * BAR_HEIGHT, body)


def _gathering() -> dict[str, str]:
    rounds, drawn = gather_rounds(_RING), {}
    for number in range(_RING):
        kinds = [{rounds[each][device]: "held" for each in range(number + 1)} for device in range(_RING)]
        held = len(kinds[0]) * _SHARD
        what = f"Each of {_RING} devices has {len(kinds[0])} of {_RING} parts."
        drawn[f"gather_{number}.svg"] = _round("all_gather", number, kinds, (), held, what)
    return drawn


def _scattering() -> dict[str, str]:
    rounds, drawn = scatter_rounds(_RING), {}
    for number, sums in enumerate(rounds):
        kinds = []
        for device, (part, _) in enumerate(sums):
            sent = {earlier[device][0] for earlier in rounds[:number]}
            kinds.append({each: "term" for each in range(_RING) if each not in sent} | {part: "held"})
        (terms,) = {terms for _, terms in sums}
        what = f"Each of {_RING} devices has a sum of {terms} terms of one part, and its own terms of parts not sent."
        held = len(kinds[0]) * _SHARD
        drawn[f"scatter_{number}.svg"] = _round("reduce_scatter", number, kinds, [terms] * _RING, held, what)
    return drawn


def figures() -> dict[str, str]:
    blocks = np.array([[10 * row + column for column in range(_N)] for row in range(_N)])
    reduced = _after(lambda term: lax.psum(term[0], "x"), _TERMS)
    swapped = _after(lambda shard: lax.all_to_all(shard, "x", 1, 0, tiled=True), blocks)
    return {
        **_gathering(),
        **_scattering(),
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
