"""Read which devices communicate: replica groups in XLA's three forms, and source-target pairs.

    replica_groups={{0,1},{2,3}}                     a list; {} is one group of all
    replica_groups=[2,4]<=[4,2]T(1,0)                0, 1, … in the shape [4,2], transposed, cut into 2 groups of 4
    replica_groups=mesh['a'=2,'b'=4] {'b'}           devices that differ only along these axes; 'b':(2)2 is a part of b

Forms: https://github.com/openxla/xla/blob/main/xla/hlo/ir/replica_group.cc and mesh_and_axis.cc beside it.
"""

from collections.abc import Sequence
from itertools import pairwise, product
from math import prod
from typing import TypeAlias

from grader.program.hlo import Value, integers
from grader.program.shapes import MOST_DIMS
from grader.program.tokens import ProgramUnreadable, integer, shown

Groups: TypeAlias = tuple[tuple[int, ...], ...]
Pairs: TypeAlias = tuple[tuple[int, int], ...]


def read_groups(value: Value, members: int) -> Groups:
    """Expand replica groups into lists of ids.

    Args:
      value: tokens of the attribute.
      members: the number of ids; `{}` is one group of all of them.
    Raises:
      ProgramUnreadable: an id is out of range, or in two groups.
    """
    if value[:1] == ("{",):
        groups = _listed(value) or (tuple(range(members)),)
    elif value[:1] == ("[",):
        groups = _iota(value, members)
    elif value[:1] == ("mesh",):
        groups = _along_axes(value, members)
    else:
        raise _unreadable(value, "no known form")
    ids = [member for group in groups for member in group]
    if len(set(ids)) != len(ids):
        raise _unreadable(value, "a device is in two groups")
    if any(member >= members for member in ids):
        raise _unreadable(value, f"there are only {members} devices")
    return groups


def read_pairs(value: Value, members: int) -> Pairs:
    """Read `{{0,1},{1,2}}`: source and target devices. No device sends or receives twice."""
    listed = _listed(value)
    pairs = tuple((pair[0], pair[1]) for pair in listed if len(pair) == 2)
    if len(pairs) != len(listed):
        raise _unreadable(value, "a pair has two devices")
    for side in zip(*pairs, strict=True):
        if len(set(side)) != len(side) or max(side) >= members:
            raise _unreadable(value, f"each of {members} devices sends at most once and receives at most once")
    return pairs


def connected(pairs: Pairs) -> Groups:
    """Group the devices that pairs connect, directly or through others."""
    neighbours: dict[int, set[int]] = {}
    for source, target in pairs:
        neighbours.setdefault(source, set()).add(target)
        neighbours.setdefault(target, set()).add(source)
    groups: list[tuple[int, ...]] = []
    seen: set[int] = set()
    for start in sorted(neighbours):
        if start in seen:
            continue
        group, fringe = {start}, [start]
        while fringe:
            new = neighbours[fringe.pop()] - group
            group |= new
            fringe.extend(new)
        seen |= group
        groups.append(tuple(sorted(group)))
    return tuple(groups)


def groups_along(sizes: Sequence[int], axes: Sequence[int]) -> Groups:
    """Split row-major ids over a mesh of these `sizes` into groups that differ only along `axes`.

    Returns:
      Groups in ascending order of their first members; inside a group the last of `axes` varies fastest.
    """
    strides = [prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
    others = [axis for axis in range(len(sizes)) if axis not in axes]
    return tuple(
        tuple(start + step for step in _offsets([(sizes[axis], strides[axis]) for axis in axes]))
        for start in _offsets([(sizes[axis], strides[axis]) for axis in others])
    )


def _offsets(dims: Sequence[tuple[int, int]]) -> list[int]:
    """Offsets of all elements of an array with these (size, stride) dims, in row-major order."""
    return [sum(index) for index in product(*(range(0, size * stride, stride) for size, stride in dims))]


def _listed(value: Value) -> Groups:
    groups: list[tuple[int, ...]] = []
    inner = value[1:-1]
    at = 0
    while at < len(inner):
        end = inner.index("}", at) if inner[at] == "{" else -1
        if end < 0:
            raise _unreadable(value, "a group must be in braces")
        groups.append(_numbers(inner[at + 1 : end], value))
        at = end + 1
        if at < len(inner):
            if inner[at] != "," or at + 1 == len(inner):
                raise _unreadable(value, "groups are separated by commas")
            at += 1
    # Some passes write {{}} for {}.
    return tuple(group for group in groups if group)


def _iota(value: Value, members: int) -> Groups:
    tiles, rest = _bracketed(value, 0, value)
    if value[rest : rest + 1] != ("<=",):
        raise _unreadable(value, "'<=' is missing")
    dims, rest = _bracketed(value, rest + 1, value)
    order: tuple[int, ...] = tuple(range(len(dims)))
    if value[rest : rest + 1] == ("T",):
        order, rest = _bracketed(value, rest + 1, value)
    if rest != len(value) or sorted(order) != list(range(len(dims))) or len(tiles) != 2:
        raise _unreadable(value, "it is not [groups,size]<=[dims]T(order)")
    # Check before allocating anything: the text may ask for a billion ids.
    if not prod(tiles) == prod(dims) <= members:
        raise _unreadable(value, f"its sizes do not multiply to {members} or fewer")
    ids = _transposed(dims, order)
    return tuple(tuple(ids[start : start + tiles[1]]) for start in range(0, len(ids), tiles[1])) if tiles[1] else ()


def _transposed(dims: Sequence[int], order: Sequence[int]) -> list[int]:
    strides = [prod(dims[axis + 1 :]) for axis in range(len(dims))]
    return _offsets([(dims[axis], strides[axis]) for axis in order])


def _along_axes(value: Value, members: int) -> Groups:
    if value[1:2] != ("[",):
        raise _unreadable(value, "the axes of the mesh are missing")
    close = value.index("]")
    names: list[str] = []
    sizes: list[int] = []
    for entry in _entries(value[2:close]):
        size = integer(entry[2]) if len(entry) == 3 and entry[1] == "=" else None
        if size is None or size < 1 or entry[0] in names:
            raise _unreadable(value, "an axis of a mesh is 'name'=size")
        names.append(entry[0])
        sizes.append(size)
    if not sizes or prod(sizes) > members:
        raise _unreadable(value, f"the mesh is empty or has more than {members} devices")
    ids, at = _device_ids(value, close + 1, prod(sizes))
    chosen = _entries(value[at + 1 : -1])
    if value[at : at + 1] != ("{",) or any(entry[0] not in names for entry in chosen):
        raise _unreadable(value, "the axes of the mesh must follow it in braces")
    parts = [(names.index(entry[0]), entry[1:]) for entry in chosen]
    dims, axes = _split(sizes, parts, value)
    return tuple(tuple(ids[member] for member in group) for group in groups_along(dims, axes))


def _split(sizes: Sequence[int], parts: list[tuple[int, Value]], value: Value) -> tuple[list[int], list[int]]:
    """Split mesh axes at the borders of the named parts. Return the new sizes, and which of them are named."""
    borders: list[set[int]] = [{1, size} for size in sizes]
    spans: list[tuple[int, int, int]] = []
    for axis, suffix in parts:
        before, size = 1, sizes[axis]
        if suffix:
            numbers = integers(suffix)
            if len(numbers) != 2 or suffix != (":", "(", str(numbers[0]), ")", str(numbers[1])) or min(numbers) < 1:
                raise _unreadable(value, "a part of an axis is 'name':(before)size")
            before, size = numbers
        borders[axis] |= {before, before * size}
        spans.append((axis, before, before * size))
    dims: list[int] = []
    place: dict[tuple[int, int], int] = {}
    for axis, cuts in enumerate(borders):
        ordered = sorted(cuts)
        for low, high in pairwise(ordered):
            if high % low or sizes[axis] % high:
                raise _unreadable(value, "the parts of an axis do not divide it")
            place[axis, low] = len(dims)
            dims.append(high // low)
    axes = [place[axis, low] for axis, start, end in spans for low in sorted(borders[axis]) if start <= low < end]
    if len(set(axes)) != len(axes):
        raise _unreadable(value, "an axis is named twice")
    return dims, axes


def _device_ids(value: Value, at: int, devices: int) -> tuple[Sequence[int], int]:
    """Read `, device_ids=(1,0,2,3)` or `, device_ids=([2,2]T(1,0))`. If it is missing, devices are in order."""
    if value[at : at + 4] != (",", "device_ids", "=", "("):
        return range(devices), at
    at += 4
    if value[at] == "[":
        dims, at = _bracketed(value, at, value)
        order, at = _bracketed(value, at + 1, value)
        if sorted(order) != list(range(len(dims))) or prod(dims) != devices or value[at : at + 1] != (")",):
            raise _unreadable(value, "device_ids do not order the devices")
        return _transposed(dims, order), at + 1
    end = value.index(")", at)
    ids = _numbers(value[at:end], value)
    if sorted(ids) != list(range(devices)):
        raise _unreadable(value, "device_ids do not order the devices")
    return ids, end + 1


def _bracketed(value: Value, at: int, whole: Value) -> tuple[tuple[int, ...], int]:
    """Read `[2,4]` or `(1,0)` at `at`. Return the numbers and the index after it."""
    closing = {"[": "]", "(": ")"}.get(value[at] if at < len(value) else "")
    if closing is None or closing not in value[at:]:
        raise _unreadable(whole, "a list of numbers is missing")
    end = value.index(closing, at)
    if end - at > 2 * MOST_DIMS:
        raise _unreadable(whole, f"it has more than {MOST_DIMS} dims")
    return _numbers(value[at + 1 : end], whole), end + 1


def _numbers(tokens: Value, whole: Value) -> tuple[int, ...]:
    numbers = tuple(integer(token) for token in tokens[::2])
    known = tuple(number for number in numbers if number is not None and number >= 0)
    if len(known) != len(numbers) or any(token != "," for token in tokens[1::2]) or tokens[-1:] == (",",):
        raise _unreadable(whole, "these are not numbers with commas between them")
    return known


def _entries(tokens: Value) -> list[Value]:
    """Split at commas."""
    entries: list[Value] = []
    start = 0
    for at, token in enumerate((*tokens, ",")):
        if token == ",":
            if at > start:
                entries.append(tokens[start:at])
            start = at + 1
    if len(entries) > MOST_DIMS:
        raise ProgramUnreadable(f"a mesh has more than {MOST_DIMS} axes")
    return entries


def _unreadable(value: Value, why: str) -> ProgramUnreadable:
    return ProgramUnreadable(f"the groups {shown(''.join(value))} cannot be read: {why}")
