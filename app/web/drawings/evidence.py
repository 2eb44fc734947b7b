"""Evidence of program-mode checks, read for drawing.

It is JSON from the database, perhaps of an older version, with names that a submission chose. So nothing here raises:
what has not the expected form is left out, and every text comes out harmless and of bounded length.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

from app.web.terminal import plain_text

MAX_DEVICES = 64
_MAX_DIMS = 16
_MAX_TEXT = 160
# Beyond it a number is no count of bytes or operations, and floats lose it.
_MAX_COUNT = 10**18

Slice = tuple[int, int]
Held = tuple[tuple[Slice, ...], ...]


@dataclass(frozen=True, slots=True)
class Mesh:
    """Axes in order with their sizes; devices are numbered row by row."""

    axes: tuple[tuple[str, int], ...]

    @property
    def devices(self) -> int:
        return math.prod(size for _, size in self.axes)

    def __str__(self) -> str:
        return ", ".join(f"{name} = {size}" for name, size in self.axes) or "one device"

    def indices(self, device: int) -> tuple[int, ...]:
        """Where a device stands on each axis."""
        steps = []
        for _, size in reversed(self.axes):
            device, index = divmod(device, size)
            steps.append(index)
        return tuple(reversed(steps))

    def coordinates(self, device: int) -> str:
        """`fsdp 3` or `data 0, fsdp 3`."""
        return ", ".join(f"{name} {index}" for (name, _), index in zip(self.axes, self.indices(device), strict=True))


@dataclass(frozen=True, slots=True)
class Leaf:
    """One array, or several that are placed alike. `expected` and `got` hold, for each device, a slice of each dim."""

    paths: tuple[str, ...]
    when: str
    shape: tuple[int, ...]
    dtype: str
    ok: bool
    expected_spec: str
    got_spec: str
    expected: Held | None
    got: Held | None


@dataclass(frozen=True, slots=True)
class Amounts:
    """One quantity per device of this program, of the reference and, where it has a meaning, undivided."""

    name: str
    mine: int | None
    reference: int | None
    whole: int | None


@dataclass(frozen=True, slots=True)
class Traffic:
    """A sum over collectives; `ring_bytes` is sent by each device."""

    executions: int | None
    bytes: int | None
    ring_bytes: int | None


@dataclass(frozen=True, slots=True)
class CollectiveRow:
    """All collectives of one kind over the same axes."""

    kind: str
    axes: str
    group_size: int | None
    in_loop: bool
    mine: Traffic | None
    reference: Traffic | None


@dataclass(frozen=True, slots=True)
class Block:
    """One collective of a program; `bytes` is one execution's."""

    kind: str
    axes: str
    bytes: int
    executions: int | None
    in_loop: bool


def read_mesh(value: Any) -> Mesh | None:
    if not isinstance(value, dict) or len(value) > _MAX_DIMS:
        return None
    axes = tuple((read_text(name), count) for name, size in value.items() if (count := read_count(size)))
    mesh = Mesh(axes)
    return mesh if len(axes) == len(value) and mesh.devices <= MAX_DEVICES else None


def read_leaves(value: Any, mesh: Mesh) -> list[Leaf]:
    """Leaves that look the same in every respect are one, with all their paths; wrong ones come first."""
    alike: dict[tuple[object, ...], tuple[Leaf, dict[str, None], dict[str, None]]] = {}
    for entry in value if isinstance(value, list) else []:
        leaf = _read_leaf(entry, mesh)
        if leaf is None:
            continue
        key = (leaf.shape, leaf.dtype, leaf.ok, leaf.expected_spec, leaf.got_spec, leaf.expected, leaf.got)
        _, paths, times = alike.setdefault(key, (leaf, {}, {}))
        paths[leaf.paths[0]] = times[leaf.when] = None
    merged = [_merged(leaf, tuple(paths), tuple(times)) for leaf, paths, times in alike.values()]
    return sorted(merged, key=lambda leaf: leaf.ok)


def read_amounts(value: Any) -> list[Amounts]:
    """Rows of `state_bytes` and `memory`; all of them, or none when one is of another form."""
    rows = value if isinstance(value, list) else []
    found = [
        Amounts(
            read_text(row["name"]),
            read_count(row.get("mine")),
            read_count(row.get("reference")),
            read_count(row.get("replicated")),
        )
        for row in rows
        if isinstance(row, dict) and isinstance(row.get("name"), str)
    ]
    return found if len(found) == len(rows) else []


def read_collectives(value: Any) -> list[CollectiveRow]:
    """Rows of `collectives` and `batch`; all of them, or none when one is of another form."""
    rows = value if isinstance(value, list) else []
    found = [
        CollectiveRow(
            kind=read_text(row["kind"]),
            axes=_read_axes(row.get("axes")),
            group_size=read_count(row.get("group_size")),
            in_loop=row.get("in_loop") is True,
            mine=_read_traffic(row.get("mine")),
            reference=_read_traffic(row.get("reference")),
        )
        for row in rows
        if isinstance(row, dict) and isinstance(row.get("kind"), str)
    ]
    return found if len(found) == len(rows) else []


def read_blocks(value: Any) -> list[Block]:
    return [
        Block(
            kind=read_text(entry["kind"]),
            axes=_read_axes(entry.get("axes")),
            bytes=read_count(entry.get("bytes")) or 0,
            executions=read_count(entry.get("executions")),
            in_loop=entry.get("in_loop") is True,
        )
        for entry in (value if isinstance(value, list) else [])
        if isinstance(entry, dict) and isinstance(entry.get("kind"), str)
    ]


def read_count(value: Any) -> int | None:
    """A whole number from 0 that can be drawn, or `None`. JSON of another program may have made it a float."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_COUNT else None


def read_text(value: Any) -> str:
    text = plain_text(value if isinstance(value, str) else "").replace("\n", "␊").replace("\t", " ")
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 1]}…"


def _read_leaf(entry: Any, mesh: Mesh) -> Leaf | None:
    if not isinstance(entry, dict) or not isinstance(entry.get("path"), str):
        return None
    shape = _read_shape(entry.get("shape"))
    when = entry.get("when")
    return Leaf(
        paths=(read_text(entry["path"]),),
        when=when if when in ("in", "out") else "",
        shape=shape or (),
        dtype=read_text(entry.get("dtype")),
        # An entry that does not say so is not called right.
        ok=entry.get("ok") is True,
        expected_spec=read_text(entry.get("expected_spec")),
        got_spec=read_text(entry.get("got_spec")),
        expected=_read_held(entry.get("expected"), shape, mesh),
        got=_read_held(entry.get("got"), shape, mesh),
    )


def _merged(leaf: Leaf, paths: tuple[str, ...], times: tuple[str, ...]) -> Leaf:
    when = " and ".join(time for time in ("in", "out") if time in times)
    return replace(leaf, paths=paths, when=when)


def _read_shape(value: Any) -> tuple[int, ...] | None:
    if not isinstance(value, list) or len(value) > _MAX_DIMS:
        return None
    sizes = [read_count(size) for size in value]
    return None if None in sizes else tuple(size for size in sizes if size is not None)


def _read_held(value: Any, shape: tuple[int, ...] | None, mesh: Mesh) -> Held | None:
    if shape is None or not isinstance(value, list) or len(value) != mesh.devices:
        return None
    held = [_read_slices(device, shape) for device in value]
    return None if None in held else tuple(slices for slices in held if slices is not None)


def _read_slices(value: Any, shape: tuple[int, ...]) -> tuple[Slice, ...] | None:
    if not isinstance(value, list) or len(value) != len(shape):
        return None
    slices = []
    for pair, size in zip(value, shape, strict=True):
        ends = [read_count(end) for end in pair] if isinstance(pair, list) and len(pair) == 2 else [None]
        if None in ends:
            return None
        start, stop = (min(end or 0, size) for end in ends)
        slices.append((start, max(start, stop)))
    return tuple(slices)


def _read_axes(value: Any) -> str:
    """`fsdp`, `data, fsdp`; empty when the groups are no axes of the mesh."""
    names = value[:_MAX_DIMS] if isinstance(value, list) else []
    return ", ".join(read_text(name) for name in names if isinstance(name, str))


def _read_traffic(value: Any) -> Traffic | None:
    if not isinstance(value, dict):
        return None
    return Traffic(
        read_count(value.get("executions")), read_count(value.get("bytes")), read_count(value.get("ring_bytes"))
    )
