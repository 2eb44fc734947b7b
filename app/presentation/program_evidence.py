"""Arranges the evidence of program-mode checks for a page: for each mesh a drawing of what is wrong, then the rest."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from markupsafe import Markup

from app.core.web.units import NOTHING, bytes_text, exact_text, flops_text
from app.presentation.drawings.bars import draw_bar, is_over, is_under, largest
from app.presentation.drawings.mesh import (
    MAX_BOXES,
    describe,
    draw_placement,
    drawn_dims,
    is_whole,
    letters_of,
    slices_text,
)
from app.presentation.drawings.placement import Leaf, Mesh, group_leaves, label
from app.presentation.drawings.timeline import axes_text, draw_timeline
from grader.verdicts.evidence import (
    Amount,
    Amounts,
    Collectives,
    CollectiveSum,
    Evidence,
    Factors,
    Facts,
    FailedCase,
    Fault,
    Held,
    Leaves,
    OutputTolerances,
    Tolerances,
    Traffic,
)
from grader.verdicts.verdict import Efficiency

MAX_MESHES = 8
# For each mesh: how many leaves are drawn (wrong ones first), and how many are listed.
MAX_DRAWN = 24
# Drawings of leaves on many devices make a page large.
MAX_DRAWN_AS_CELLS = 6
MAX_LISTED = 400
MAX_MEMBERS = 200


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """The slice of one device, as text. The page shows `expected` only if it differs."""

    device: int
    coordinates: str
    got: str
    expected: str
    differs: bool


@dataclass(frozen=True, slots=True)
class LeafView:
    """Leaves with equal placement. `expected` is drawn beside `got` if they differ or the leaf is wrong.

    Leaves that are correctly whole on every device need only words. Those with `in_table` are beyond the drawings.
    `listed_on` is the mesh that already lists the same leaves, if there is one.
    """

    leaf: Leaf
    expected: Markup | None
    got: Markup | None
    expected_in_words: str
    got_in_words: str
    drawn_dims: str
    devices: tuple[DeviceRow, ...]
    in_table: bool
    listed_on: str

    @property
    def name(self) -> str:
        more = len(self.leaf.paths) - 1
        return self.leaf.paths[0] + (f" and {more} more" if more else "")

    @property
    def by_form(self) -> dict[str, list[str]]:
        """The paths of the first members by dtype and shape."""
        found: dict[str, list[str]] = {}
        for member in self.leaf.members[:MAX_MEMBERS]:
            path, form = member.rsplit("[", 1)[0].rsplit(" ", 1)
            found.setdefault(f"{form}[{member.rsplit('[', 1)[1]}", []).append(path)
        return found


@dataclass(frozen=True, slots=True)
class AmountRow:
    """One quantity, as a bar and in numbers. `fault` is empty if the check accepts it."""

    amount: Amount
    bar: Markup
    fault: Literal["", "too little", "too much"]


@dataclass(frozen=True, slots=True)
class AmountsView:
    """Quantities as rows of a table. `in_words` writes one of them; `has` names the columns that are not empty."""

    title: str
    whole: str
    rows: tuple[AmountRow, ...]
    in_words: Callable[[int | None], str]
    has: frozenset[str]


@dataclass(frozen=True, slots=True)
class CollectiveRow:
    """All collectives of one kind over the same axes."""

    name: str
    axes: str
    group_size: int
    in_loop: bool
    mine: Traffic | None
    reference: Traffic | None


@dataclass(frozen=True, slots=True)
class MeshView:
    """One check on one mesh. `name` adds the cases, if the mesh has several programs.

    `unlisted` counts the leaves that are not shown. `rest` is evidence without a drawing. Each of the `orders` draws
    the collectives of both programs in program order.
    """

    name: str
    mesh: Mesh
    wrong: tuple[LeafView, ...]
    right: tuple[LeafView, ...]
    unlisted: int
    amounts: tuple[AmountsView, ...]
    collectives: tuple[CollectiveRow, ...]
    orders: tuple[Markup, ...]
    rest: dict[str, Any]


@dataclass(frozen=True, slots=True)
class MeshesView:
    """The meshes that the page has room for, and the names of the others."""

    shown: tuple[MeshView, ...]
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PartView:
    name: str
    mine: str
    reference: str
    ratio: float


@dataclass(frozen=True, slots=True)
class EfficiencyView:
    score: float
    parts: tuple[PartView, ...]


_UNITS: dict[Literal["bytes", "operations", "products"], Callable[[int | None], str]] = {
    "bytes": bytes_text,
    "operations": flops_text,
    "products": exact_text,
}
_PARTS: dict[str, tuple[str, Callable[[int | None], str]]] = {
    "ring_bytes": ("Bytes that a device sends", bytes_text),
    "temporary_bytes": ("Temporary bytes on a device", bytes_text),
    "dot_flops": ("Matrix-product operations on a device", flops_text),
}


def arrange_meshes(evidence: Sequence[Evidence]) -> MeshesView:
    """The evidence of a check for each mesh, in the order of the entries."""
    by_name: dict[str, tuple[Mesh, list[Evidence]]] = {}
    for entry in evidence:
        match entry:
            case FailedCase() | Tolerances() | OutputTolerances() | Fault() | Facts(mesh=None):
                continue
            case _:
                mesh = Mesh.of(entry.mesh or {})
                name = ", ".join([str(mesh), *map(label, entry.cases)])
                by_name.setdefault(name, (mesh, []))[1].append(entry)
    listed: dict[tuple[str, ...], str] = {}
    shown = [_arrange(name, mesh, entries, listed) for name, (mesh, entries) in islice(by_name.items(), MAX_MESHES)]
    return MeshesView(tuple(shown), tuple(by_name)[MAX_MESHES:])


def arrange_amounts(entry: Amounts) -> AmountsView:
    """Quantities of one mesh as rows, whose bars have the same scale."""
    most = largest(entry.rows)
    rows = tuple(AmountRow(row, draw_bar(row, most), _fault(row)) for row in entry.rows)
    columns = ("reference", "at_most", "whole")
    has = frozenset(each for each in columns if any(getattr(row, each) is not None for row in entry.rows))
    return AmountsView(label(entry.title), label(entry.whole_title), rows, _UNITS[entry.unit], has)


def _fault(row: Amount) -> Literal["", "too little", "too much"]:
    if is_under(row):
        return "too little"
    return "too much" if is_over(row) else ""


def arrange_leaves(entry: Leaves) -> tuple[LeafView, ...]:
    """The leaves of one mesh in groups of equal placement."""
    mesh = Mesh.of(entry.mesh)
    return tuple(_leaf_views(group_leaves(entry.leaves, mesh), mesh, {}))


def arrange_efficiency(efficiency: Efficiency) -> EfficiencyView:
    parts = []
    for part in efficiency.parts:
        name, in_words = _PARTS[part.name]
        parts.append(PartView(name, in_words(part.mine), in_words(part.reference), part.ratio))
    return EfficiencyView(efficiency.score, tuple(parts))


def _arrange(name: str, mesh: Mesh, entries: list[Evidence], listed: dict[tuple[str, ...], str]) -> MeshView:
    """One mesh. `listed` has the groups of leaves that earlier meshes list, and receives those of this one."""
    leaves: list[Leaf] = []
    amounts: list[AmountsView] = []
    collectives: list[CollectiveRow] = []
    orders: list[Markup] = []
    rest: dict[str, Any] = {}
    for entry in entries:
        match entry:
            case Leaves():
                leaves += group_leaves(entry.leaves, mesh)
            case Amounts():
                amounts.append(arrange_amounts(entry))
            case Collectives():
                collectives += map(_collective_row, entry.sums)
                if entry.mine or entry.reference:
                    lanes = {"yours": entry.mine, "reference": entry.reference}
                    orders.append(draw_timeline(f"Collectives in program order, {mesh}", lanes))
            case Factors():
                rest["factors"] = [factor.model_dump() for factor in entry.factors]
            case Facts():
                rest[entry.about] = entry.values
    shown = _leaf_views(leaves, mesh, listed)
    listed |= {view.leaf.members: name for view in shown if not view.listed_on}
    return MeshView(
        name=name,
        mesh=mesh,
        wrong=tuple(view for view in shown if not view.leaf.ok),
        right=tuple(view for view in shown if view.leaf.ok),
        unlisted=sum(len(leaf.paths) for leaf in leaves[MAX_LISTED:]),
        amounts=tuple(amounts),
        collectives=tuple(collectives),
        orders=tuple(orders),
        rest=rest,
    )


def _leaf_views(leaves: list[Leaf], mesh: Mesh, listed: dict[tuple[str, ...], str]) -> list[LeafView]:
    return [
        _leaf_view(
            leaf,
            mesh,
            draw=index < (MAX_DRAWN if mesh.devices <= MAX_BOXES else MAX_DRAWN_AS_CELLS),
            listed_on=listed.get(leaf.members, ""),
        )
        for index, leaf in enumerate(islice(leaves, MAX_LISTED))
    ]


def _leaf_view(leaf: Leaf, mesh: Mesh, *, draw: bool, listed_on: str) -> LeafView:
    name = leaf.paths[0]
    expected = got = None
    in_table = not draw or (leaf.expected is None and leaf.got is None)
    draw = draw and not (leaf.ok and is_whole(leaf.got, leaf.shape) and is_whole(leaf.expected, leaf.shape))
    # A check may require only the axes. Then a leaf that is split over another dimension is right too.
    if draw and leaf.expected is not None and (leaf.expected != leaf.got or not leaf.ok):
        expected = draw_placement(mesh, leaf, leaf.expected, title=f"{name}, expected, on {mesh}")
    if draw and leaf.got is not None:
        compare_with = None if leaf.ok else leaf.expected
        got = draw_placement(mesh, leaf, leaf.got, title=f"{name}, yours, on {mesh}", compare_with=compare_with)
    dims = drawn_dims(leaf)
    return LeafView(
        leaf=leaf,
        expected=expected,
        got=got,
        expected_in_words=describe(mesh, leaf.expected, leaf) if leaf.expected is not None else "",
        got_in_words=describe(mesh, leaf.got, leaf) if leaf.got is not None else "",
        drawn_dims=" and ".join(map(str, dims)) if draw and len(dims) < len(leaf.shape) else "",
        devices=_device_rows(leaf, mesh) if draw and mesh.devices <= MAX_BOXES else (),
        in_table=in_table,
        listed_on=listed_on,
    )


def _device_rows(leaf: Leaf, mesh: Mesh) -> tuple[DeviceRow, ...]:
    letters = letters_of(leaf)

    def slice_of(placement: Held | None, device: int) -> str:
        if placement is None:
            return NOTHING
        return f"{letters[placement[device]]} {slices_text(placement[device], leaf.shape)}".rstrip()

    if leaf.expected is None and leaf.got is None:
        return ()
    return tuple(
        DeviceRow(
            device,
            mesh.coordinates(device),
            got=(got := slice_of(leaf.got, device)),
            expected=(expected := slice_of(leaf.expected, device)),
            differs=leaf.expected is not None and not leaf.ok and got != expected,
        )
        for device in range(mesh.devices)
    )


def _collective_row(total: CollectiveSum) -> CollectiveRow:
    return CollectiveRow(
        name=label(total.collective),
        axes=axes_text(total.axes),
        group_size=total.group_size,
        in_loop=total.in_loop,
        mine=total.mine,
        reference=total.reference,
    )
