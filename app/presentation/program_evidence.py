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
from app.presentation.drawings.timeline import draw_timeline
from app.presentation.fault_views import BarsView, ShapesView, view_bars, view_shapes
from app.presentation.program_tables import over
from app.presentation.sent_bytes import sent_calls
from app.presentation.table import Cell, Column, Row, Table, and_more, code, columns, count, size
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
)
from grader.verdicts.verdict import Efficiency

MAX_MESHES = 8
# For each mesh: how many leaves are drawn (wrong ones first), and how many are listed.
MAX_DRAWN = 24
# Drawings of leaves on many devices make a page large.
MAX_DRAWN_AS_CELLS = 6
MAX_LISTED = 400
MAX_MEMBERS = 200
# A verdict draws fewer: the first wrong ones or, if none is wrong, the first right ones.
MAX_WRONG_DRAWN, MAX_RIGHT_DRAWN = 3, 2
_MAX_NAMED = 6


@dataclass(frozen=True, slots=True)
class LeafView:
    """Leaves with equal placement. `expected` is drawn beside `got` if they differ or the leaf is wrong.

    Leaves that are correctly whole on every device need only words. `shapes` is drawn instead if the shape is wrong.
    Those with `in_table` are beyond the drawings.
    `listed_on` is the mesh that already lists the same leaves, if there is one.
    """

    leaf: Leaf
    expected: Markup | None
    got: Markup | None
    expected_in_words: str
    got_in_words: str
    drawn_dims: str
    devices: Table | None
    in_table: bool
    listed_on: str
    shapes: ShapesView | None = None

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
class MeshView:
    """One check on one mesh. `name` adds the cases, if the mesh has several programs.

    `other_wrong` and `other_right` list the leaves that are not drawn. `rest` is evidence without a drawing. Each of
    the `orders` draws the collectives of both programs in program order. `bars` draw the quantities and the bytes of
    collectives that are out of bounds.
    """

    name: str
    mesh: Mesh
    wrong: tuple[LeafView, ...]
    other_wrong: Table | None
    right: tuple[LeafView, ...]
    other_right: Table | None
    amounts: tuple[AmountsView, ...]
    collectives: Table | None
    orders: tuple[Markup, ...]
    bars: tuple[BarsView, ...]
    rest: dict[str, Any]


@dataclass(frozen=True, slots=True)
class MeshesView:
    """The meshes that the page has room for, and the names of the others."""

    shown: tuple[MeshView, ...]
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EfficiencyView:
    """The efficiency of an accepted program, and the ratio of each of its costs to the reference's."""

    score: float
    parts: Table


UNITS: dict[Literal["bytes", "operations", "products"], Callable[[int | None], str]] = {
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


def arrange_amounts(entry: Amounts, *, with_zeros: bool = True) -> AmountsView:
    """Quantities of one mesh as rows, whose bars have the same scale. `with_zeros` keeps rows of zeros."""
    most = largest(entry.rows)
    shown = [row for row in entry.rows if with_zeros or row.mine or row.reference]
    rows = tuple(AmountRow(row, draw_bar(row, most), _fault(row)) for row in shown)
    columns = ("reference", "at_most", "whole")
    has = frozenset(each for each in columns if any(getattr(row, each) is not None for row in shown))
    return AmountsView(label(entry.title), label(entry.whole_title), rows, UNITS[entry.unit], has)


def _fault(row: Amount) -> Literal["", "too little", "too much"]:
    if is_under(row):
        return "too little"
    return "too much" if is_over(row) else ""


def arrange_leaves(entry: Leaves) -> tuple[LeafView, ...]:
    """The leaves of one mesh in groups of equal placement."""
    mesh = Mesh.of(entry.mesh)
    return tuple(_leaf_views(group_leaves(entry.leaves, mesh), mesh, {}))


def arrange_efficiency(efficiency: Efficiency) -> EfficiencyView:
    rows = []
    for part in efficiency.parts:
        name, in_words = _PARTS[part.name]
        values = (name, in_words(part.mine), in_words(part.reference), f"{part.ratio:.3f}")
        rows.append(Row(tuple(map(Cell, values))))
    numbers = ("Yours", "Reference", "Ratio")
    names = columns("Cost", *numbers, numbers=numbers)
    return EfficiencyView(efficiency.score, Table("Parts of the efficiency", names, tuple(rows)))


def _arrange(name: str, mesh: Mesh, entries: list[Evidence], listed: dict[tuple[str, ...], str]) -> MeshView:
    """One mesh. `listed` has the groups of leaves that earlier meshes list, and receives those of this one."""
    leaves: list[Leaf] = []
    amounts: list[AmountsView] = []
    sums: list[CollectiveSum] = []
    orders: list[Markup] = []
    bars: list[BarsView] = []
    rest: dict[str, Any] = {}
    for entry in entries:
        match entry:
            case Leaves():
                leaves += group_leaves(entry.leaves, mesh)
            case Amounts():
                amounts.append(arrange_amounts(entry))
                bars += [view_bars(row, entry.unit) for row in entry.rows if _fault(row)]
            case Collectives():
                sums += entry.sums
                bars += [
                    view_bars(each, each.unit)
                    for each in entry.limits
                    if each.unit == "bytes" and (is_over(each) or is_under(each))
                ]
                if entry.mine or entry.reference:
                    sides = {"yours": entry.mine, "reference": entry.reference}
                    lanes = {name: sent_calls(calls, entry.sums) for name, calls in sides.items()}
                    orders.append(draw_timeline(f"Collectives in program order, {mesh}", lanes))
            case Factors():
                rest["factors"] = [factor.model_dump() for factor in entry.factors]
            case Facts():
                rest[entry.about] = entry.values
    number = sum(not leaf.ok for leaf in leaves)
    shown = _leaf_views(leaves, mesh, listed, most=min(number, MAX_WRONG_DRAWN) or MAX_RIGHT_DRAWN)
    listed |= {view.leaf.members: name for view in shown if not view.listed_on}
    wrong = tuple(view for view in shown if not view.leaf.ok)
    right = tuple(view for view in shown if view.leaf.ok)
    unlisted = sum(len(leaf.paths) for leaf in leaves[MAX_LISTED:])
    return MeshView(
        name=name,
        mesh=mesh,
        wrong=wrong,
        other_wrong=leaf_table("Wrong leaves not drawn", wrong, 0 if right else unlisted),
        right=right,
        other_right=leaf_table("Right leaves not drawn", right, unlisted if right else 0, is_graded=False),
        amounts=tuple(amounts),
        collectives=_collectives(sums) if sums else None,
        orders=tuple(orders),
        bars=tuple(bars),
        rest=rest,
    )


def _leaf_views(
    leaves: list[Leaf], mesh: Mesh, listed: dict[tuple[str, ...], str], most: int = MAX_DRAWN
) -> list[LeafView]:
    most = most if mesh.devices <= MAX_BOXES else min(most, MAX_DRAWN_AS_CELLS)
    return [
        _leaf_view(
            leaf,
            mesh,
            draw=index < most,
            listed_on=listed.get(leaf.members, ""),
        )
        for index, leaf in enumerate(islice(leaves, MAX_LISTED))
    ]


def _leaf_view(leaf: Leaf, mesh: Mesh, *, draw: bool, listed_on: str) -> LeafView:
    name = leaf.paths[0]
    expected = got = None
    in_table = not draw or (leaf.expected is None and leaf.got is None)
    shapes = view_shapes(name, leaf.shape, leaf.got_shape) if draw and leaf.got_shape is not None else None
    draw = draw and shapes is None
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
        devices=_devices(leaf, mesh, expected) if draw and mesh.devices <= MAX_BOXES else None,
        in_table=in_table,
        listed_on=listed_on,
        shapes=shapes,
    )


def leaf_table(title: str, views: Sequence[LeafView], unlisted: int, *, is_graded: bool = True) -> Table | None:
    """The leaves that are not drawn, and how many more there are; None if all are drawn."""
    plain = [view for view in views if view.in_table]
    if not plain and not unlisted:
        return None
    specs = ("Expected", "Yours") if is_graded else ("Placed as",)
    rows = []
    for view in plain:
        shape = f"[{', '.join(map(str, view.leaf.shape))}]"
        placed = (view.leaf.expected_spec, view.leaf.got_spec)[-len(specs) :]
        path, *others = view.leaf.paths
        rows.append(Row((code(path, *_named(others)), Cell(shape), *map(code, placed))))
    names = columns("Leaf", "Shape", *specs, numbers=["Shape"])
    return Table(title, names, tuple(rows), remarks=and_more(unlisted, "leaves"))


def _named(paths: Sequence[str]) -> tuple[str, ...]:
    """The first few paths and the number of the others, as one note; none without paths."""
    more = len(paths) - _MAX_NAMED
    names = [*paths[:_MAX_NAMED], *([f"{more} more"] if more > 0 else [])]
    return (f"and {', '.join(names)}",) if names else ()


def _devices(leaf: Leaf, mesh: Mesh, expected: Markup | None) -> Table | None:
    """The slice of each device, beside the expected one if that is drawn."""
    if leaf.expected is None and leaf.got is None:
        return None
    letters = letters_of(leaf)

    def slice_of(placement: Held | None, device: int) -> str:
        if placement is None:
            return NOTHING
        return f"{letters[placement[device]]} {slices_text(placement[device], leaf.shape)}".rstrip()

    # On a single axis, a device's index is its number.
    places = ("Place",) if len(mesh.axes) > 1 else ()
    sides = () if expected is None else ("Reference" if leaf.ok else "Expected",)
    rows = []
    for device in range(mesh.devices):
        due, got = slice_of(leaf.expected, device), slice_of(leaf.got, device)
        fault = "differs" if leaf.expected is not None and not leaf.ok and got != due else ""
        cells = [Cell(mesh.coordinates(device)) for _ in places] + [code(due) for _ in sides]
        rows.append(Row((count(device), *cells, Cell(got, fault=fault, is_code=True))))
    names = columns("Device", *places, *sides, "Yours", numbers=["Device"])
    return Table(f"{leaf.paths[0]}, device by device", names, tuple(rows))


def _collectives(sums: Sequence[CollectiveSum]) -> Table:
    """All collectives of one kind over the same axes in a row, beside the reference's."""
    groups = ("Times", "Whole tensors", "Sent by each device")
    sides = ("yours", "reference")
    rows = []
    for each in sums:
        both = (each.mine, each.reference)
        cells = [
            *(count(side.executions) if side else Cell(NOTHING) for side in both),
            *(size(side.bytes if side else None) for side in both),
            *(size(side.ring_bytes if side else None) for side in both),
        ]
        name = Cell(label(each.collective), ("in a loop",) * each.in_loop)
        rows.append(Row((name, over(each.axes, each.group_size), *cells)))
    numbers = [Column(side, is_number=True, group=group) for group in groups for side in sides]
    return Table("Collectives", (*columns("Collective", "Over (devices)"), *numbers), tuple(rows))
