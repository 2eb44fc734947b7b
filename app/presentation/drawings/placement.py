"""Where leaves live, arranged for drawing: the mesh with its devices, and groups of leaves with equal placement.

Names come from a submission, so every text is cut to a bounded length, and anything that does not fit the mesh is not
drawn.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from grader.verdicts.evidence import Held, Slices
from grader.verdicts.evidence import Leaf as LeafEvidence
from grader.verdicts.evidence import Mesh as MeshAxes

MAX_DEVICES = 256
_MAX_TEXT = 160
_WHOLE = (Fraction(0), Fraction(1))


@dataclass(frozen=True, slots=True)
class Mesh:
    """The axes in order with their sizes. Devices are numbered row by row."""

    axes: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, axes: MeshAxes) -> "Mesh":
        return cls(tuple((label(name), size) for name, size in axes.items()))

    @property
    def devices(self) -> int:
        return math.prod(size for _, size in self.axes)

    def __str__(self) -> str:
        return ", ".join(f"{name} = {size}" for name, size in self.axes) or "one device"

    def indices(self, device: int) -> tuple[int, ...]:
        """The index of a device on each axis."""
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
    """One array, or several with equal placement, of which one is drawn: the first of those with most dimensions.

    `paths` begins with that one. `members` names each with its dtype and shape. The other fields are of the one that is
    drawn: `expected` and `got` have a slice of each dimension per device. `got_shape` is None unless it differs from
    `shape`; then `got` is None, because slices of different shapes cannot be compared.
    """

    paths: tuple[str, ...]
    members: tuple[str, ...]
    when: str
    shape: tuple[int, ...]
    dtype: str
    ok: bool
    expected_spec: str
    got_spec: str
    expected: Held | None
    got: Held | None
    got_shape: tuple[int, ...] | None = None


def group_leaves(leaves: list[LeafEvidence], mesh: Mesh) -> list[Leaf]:
    """Group leaves whose devices have equal parts, whatever their shapes. Wrong ones come first."""
    alike: dict[tuple[object, ...], list[Leaf]] = {}
    for each in leaves:
        leaf = _leaf(each, mesh)
        parts = (_parts(leaf.expected, leaf.shape), _parts(leaf.got, leaf.shape))
        shapes = (leaf.shape, leaf.got_shape) if leaf.got_shape is not None else None
        alike.setdefault((leaf.ok, leaf.expected_spec, leaf.got_spec, shapes, *parts), []).append(leaf)
    return sorted(map(_merged, alike.values()), key=lambda leaf: leaf.ok)


def label(text: str) -> str:
    """One line of bounded length."""
    line = text.replace("\n", "␊").replace("\t", " ")
    return line if len(line) <= _MAX_TEXT else f"{line[: _MAX_TEXT - 1]}…"


def _leaf(evidence: LeafEvidence, mesh: Mesh) -> Leaf:
    return Leaf(
        paths=(label(evidence.path),),
        members=(f"{label(evidence.path)} {label(evidence.dtype)}[{', '.join(map(str, evidence.shape))}]",),
        when=evidence.when,
        shape=evidence.shape,
        dtype=label(evidence.dtype),
        ok=evidence.ok,
        expected_spec=label(evidence.expected_spec),
        got_spec=label(evidence.got_spec),
        expected=_drawable(evidence.expected, evidence.shape, mesh),
        got=None if evidence.got_shape is not None else _drawable(evidence.got, evidence.shape, mesh),
        got_shape=evidence.got_shape,
    )


def _merged(leaves: list[Leaf]) -> Leaf:
    times = {leaf.when for leaf in leaves}
    # The same leaf goes in and comes out.
    names = {leaf.paths[0]: leaf.members[0] for leaf in sorted(leaves, key=lambda leaf: -len(leaf.shape))}
    return replace(
        max(leaves, key=lambda leaf: len(leaf.shape)),
        paths=tuple(names),
        members=tuple(names.values()),
        when=" and ".join(time for time in ("in", "out") if time in times),
    )


def _parts(placement: Held | None, shape: tuple[int, ...]) -> tuple[tuple[tuple[Fraction, Fraction], ...], ...] | None:
    """The part of each dimension that each device has, up to the last dimension that is split."""
    if placement is None:
        return None
    found: dict[Slices, tuple[tuple[Fraction, Fraction], ...]] = {}
    for slices in placement:
        if slices not in found:
            parts = [
                (Fraction(start, size or 1), Fraction(stop, size) if size else Fraction(1))
                for (start, stop), size in zip(slices, shape, strict=True)
            ]
            while parts and parts[-1] == _WHOLE:
                parts.pop()
            found[slices] = tuple(parts)
    return tuple(found[slices] for slices in placement)


def _drawable(placement: Held | None, shape: tuple[int, ...], mesh: Mesh) -> Held | None:
    """None for a leaf whose rank differs from the reference's, or with more devices than a drawing has room for."""
    if placement is None or mesh.devices > MAX_DEVICES or len(placement) != mesh.devices:
        return None
    if any(len(slices) != len(shape) for slices in placement):
        return None
    return tuple(_within(slices, shape) for slices in placement)


def _within(slices: Slices, shape: tuple[int, ...]) -> Slices:
    ends = [(min(start, size), min(stop, size)) for (start, stop), size in zip(slices, shape, strict=True)]
    return tuple((start, max(start, stop)) for start, stop in ends)
