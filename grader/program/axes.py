"""Find the mesh axes that a collective runs along. Devices are numbered row-major over the mesh."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import prod

from grader.program.groups import Groups, groups_along


def axes_of(groups: Iterable[Iterable[int]], mesh: Mapping[str, int]) -> tuple[str, ...] | None:
    """The axes along which all groups run.

    Args:
      groups: lists of device numbers, in any order.
      mesh: axis name -> size, in the mesh's order.
    Returns:
      Names in the mesh's order, without axes of size 1; () if every device is alone. None if the groups are not
      exactly the devices that differ along some axes, such as groups of 2 on a mesh of one axis of 8, or groups that
      leave devices out.
    """
    axes = _axes_of(frozenset(map(frozenset, groups)), tuple(mesh.values()))
    return None if axes is None else _named(axes, mesh)


# A program has dozens of collectives over the same groups, and each rule of a check asks for the axes of each of them.
@lru_cache(maxsize=256)
def _axes_of(found: frozenset[frozenset[int]], sizes: tuple[int, ...]) -> list[int] | None:
    """The numbers of the axes of a mesh of these sizes along which all groups run."""
    members = frozenset[int]().union(*found)
    if members != frozenset(range(prod(sizes))):
        return None
    axes = _varying(found, sizes)
    return axes if frozenset(map(frozenset, groups_along(sizes, axes))) == found else None


def axes_of_pairs(pairs: Iterable[tuple[int, int]], mesh: Mapping[str, int]) -> tuple[str, ...] | None:
    """The axes along which some pair of a collective_permute moves data; None if a device is not in the mesh."""
    found = [frozenset(pair) for pair in pairs]
    sizes = list(mesh.values())
    if any(device >= prod(sizes) for pair in found for device in pair):
        return None
    return _named(_varying(found, sizes), mesh)


def groups_on(axes: Iterable[str], mesh: Mapping[str, int]) -> Groups:
    """The groups of devices that differ only along these axes."""
    names = list(mesh)
    return groups_along(list(mesh.values()), [names.index(axis) for axis in axes])


def _varying(sets: Iterable[frozenset[int]], sizes: Sequence[int]) -> list[int]:
    """The numbers of the axes along which members of the same set differ."""
    strides = [prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
    return [
        axis
        for axis, (size, stride) in enumerate(zip(sizes, strides, strict=True))
        if size > 1 and any(len({device // stride % size for device in one}) > 1 for one in sets)
    ]


def _named(axes: list[int], mesh: Mapping[str, int]) -> tuple[str, ...]:
    names = list(mesh)
    return tuple(names[axis] for axis in axes)
