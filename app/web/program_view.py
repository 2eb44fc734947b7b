"""Evidence of program-mode checks, arranged for reading: for each mesh what is wrong, drawn, then all the rest."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from markupsafe import Markup

from app.web.drawings import evidence as read
from app.web.drawings.bars import Bar, BarGroup, draw_bars
from app.web.drawings.evidence import Amounts, CollectiveRow, Held, Leaf, Mesh
from app.web.drawings.mesh import describe, draw_mesh, drawn_dims, letters_of, slices_text
from app.web.drawings.timeline import MAX_BLOCKS, block_text, draw_timeline
from app.web.drawings.units import NOTHING, bytes_text, flops_text
from grader.verdict import Efficiency

MAX_MESHES = 8
# Of each mesh: leaves that are drawn (those that are wrong first), and leaves that are listed at all.
MAX_DRAWN = 24
MAX_LISTED = 400


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """What one device holds, in words; `expected` is told only where it differs."""

    device: int
    coordinates: str
    got: str
    expected: str
    differs: bool


@dataclass(frozen=True, slots=True)
class LeafView:
    """Leaves that are placed alike. `expected` is drawn beside `got` where they differ or the leaf is wrong."""

    leaf: Leaf
    expected: Markup | None
    got: Markup | None
    expected_in_words: str
    got_in_words: str
    drawn_dims: str
    devices: tuple[DeviceRow, ...]

    @property
    def name(self) -> str:
        more = len(self.leaf.paths) - 1
        return self.leaf.paths[0] + (f" and {more} more" if more else "")


@dataclass(frozen=True, slots=True)
class AmountsView:
    """Bars with the same numbers for a table. `unit` names what is counted."""

    drawing: Markup
    rows: tuple[Amounts, ...]
    unit: str
    whole: str


@dataclass(frozen=True, slots=True)
class OrderView:
    """The collectives of both programs in program order, drawn and in words."""

    drawing: Markup
    mine: tuple[str, ...]
    reference: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MeshView:
    """One check on one mesh. `unlisted` counts leaves beyond those shown; `rest` is evidence of no known form."""

    name: str
    wrong: tuple[LeafView, ...]
    right: tuple[LeafView, ...]
    unlisted: int
    amounts: AmountsView | None
    collectives: tuple[CollectiveRow, ...]
    order: OrderView | None
    rest: dict[str, Any]

    @property
    def is_drawn(self) -> bool:
        return bool(self.wrong or self.right or self.amounts or self.collectives or self.order)


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


_PARTS: dict[str, tuple[str, Callable[[int | None], str]]] = {
    "ring_bytes": ("Bytes that a device sends", bytes_text),
    "temporary_bytes": ("Temporary bytes on a device", bytes_text),
    "dot_flops": ("Matrix-product operations on a device", flops_text),
}


def arrange_meshes(evidence: dict[str, Any]) -> tuple[MeshView, ...]:
    """The meshes of a check's evidence; none when it is of another form, so that it can be shown as plain facts."""
    entries = evidence.get("meshes")
    if not isinstance(entries, list) or not entries or len(entries) > MAX_MESHES:
        return ()
    views = [_arrange(entry) if isinstance(entry, dict) else None for entry in entries]
    return () if None in views else tuple(view for view in views if view is not None)


def arrange_efficiency(efficiency: Efficiency) -> EfficiencyView:
    parts = []
    for part in efficiency.parts:
        name, in_words = _PARTS[part.name]
        parts.append(PartView(name, in_words(part.mine), in_words(part.reference), part.ratio))
    return EfficiencyView(efficiency.score, tuple(parts))


def _arrange(entry: dict[str, Any]) -> MeshView | None:
    mesh = read.read_mesh(entry.get("mesh"))
    if mesh is None:
        return None
    cases = entry.get("cases")
    serves = f", {', '.join(map(str, cases))}" if isinstance(cases, list) and cases else ""
    rest = {key: value for key, value in entry.items() if key not in ("mesh", "cases")}
    leaves = read.read_leaves(entry.get("leaves"), mesh)
    amounts = _bytes(read.read_amounts(entry.get("rows")), mesh) or _work(entry, mesh) or _donated(entry, mesh)
    collectives = read.read_collectives(entry.get("rows"))
    order = _order(entry.get("timeline"), mesh)
    drawn = {"leaves": leaves, "rows": amounts or collectives, "timeline": order}
    for key in [key for key, found in drawn.items() if found]:
        rest.pop(key, None)
    if amounts and "rows" not in entry:
        for key in _WORK_KEYS + _DONATED_KEYS:
            rest.pop(key, None)
    shown = _leaf_views(leaves, mesh)
    return MeshView(
        name=f"{mesh}{serves}",
        wrong=tuple(view for view in shown if not view.leaf.ok),
        right=tuple(view for view in shown if view.leaf.ok),
        unlisted=sum(len(leaf.paths) for leaf in leaves[MAX_LISTED:]),
        amounts=amounts,
        collectives=tuple(collectives),
        order=order,
        rest=rest,
    )


def _leaf_views(leaves: list[Leaf], mesh: Mesh) -> list[LeafView]:
    return [_leaf_view(leaf, mesh, draw=index < MAX_DRAWN) for index, leaf in enumerate(islice(leaves, MAX_LISTED))]


def _leaf_view(leaf: Leaf, mesh: Mesh, *, draw: bool) -> LeafView:
    name = leaf.paths[0]
    expected = got = None
    # A check may ask for the axes only: a leaf that is split over another dim than the reference's is right, too.
    if draw and leaf.expected is not None and (leaf.expected != leaf.got or not leaf.ok):
        expected = draw_mesh(mesh, leaf, leaf.expected, title=f"{name}, expected, on {mesh}")
    if draw and leaf.got is not None:
        wanted = None if leaf.ok else leaf.expected
        got = draw_mesh(mesh, leaf, leaf.got, title=f"{name}, yours, on {mesh}", compare_with=wanted)
    dims = drawn_dims(leaf)
    return LeafView(
        leaf=leaf,
        expected=expected,
        got=got,
        expected_in_words=describe(mesh, leaf.expected, leaf) if leaf.expected is not None else "",
        got_in_words=describe(mesh, leaf.got, leaf) if leaf.got is not None else "",
        drawn_dims=" and ".join(map(str, dims)) if len(dims) < len(leaf.shape) else "",
        devices=_device_rows(leaf, mesh) if draw else (),
    )


def _device_rows(leaf: Leaf, mesh: Mesh) -> tuple[DeviceRow, ...]:
    letters = letters_of(leaf)

    def say(held: Held | None, device: int) -> str:
        if held is None:
            return NOTHING
        return f"{letters[held[device]]} {slices_text(held[device], leaf.shape)}".rstrip()

    if leaf.expected is None and leaf.got is None:
        return ()
    return tuple(
        DeviceRow(
            device,
            mesh.coordinates(device),
            got=(got := say(leaf.got, device)),
            expected=(expected := say(leaf.expected, device)),
            differs=leaf.expected is not None and not leaf.ok and got != expected,
        )
        for device in range(mesh.devices)
    )


_WORK_KEYS = ("mine", "reference", "whole")
_DONATED_KEYS = ("donated", "state")


def _bytes(rows: list[Amounts], mesh: Mesh) -> AmountsView | None:
    return _amounts_view(rows, f"Bytes on the fullest device, {mesh}", "Bytes", "replicated", bytes_text)


def _work(entry: dict[str, Any], mesh: Mesh) -> AmountsView | None:
    mine, reference, whole = (read.read_count(entry.get(key)) for key in _WORK_KEYS)
    # A program has no number of its own where a loop runs for an unknown number of rounds.
    if "mine" not in entry or reference is None:
        return None
    row = Amounts("matrix products", mine, reference, whole)
    return _amounts_view([row], f"Operations on each device, {mesh}", "Operations", "undivided", flops_text)


def _donated(entry: dict[str, Any], mesh: Mesh) -> AmountsView | None:
    donated, state = (read.read_count(entry.get(key)) for key in _DONATED_KEYS)
    if donated is None or state is None:
        return None
    row = Amounts("state that is donated", donated, None, state)
    return _amounts_view([row], f"Donated bytes on each device, {mesh}", "Bytes", "whole state", bytes_text)


def _amounts_view(
    rows: list[Amounts], title: str, unit: str, whole: str, in_words: Callable[[int | None], str]
) -> AmountsView | None:
    if not rows:
        return None
    groups = []
    for row in rows:
        bars = [
            Bar("yours", row.mine, "mine") if row.mine is not None else None,
            Bar("reference", row.reference, "reference") if row.reference is not None else None,
            Bar(whole, row.whole, "whole") if row.whole is not None else None,
        ]
        groups.append(BarGroup(row.name, tuple(bar for bar in bars if bar is not None)))
    return AmountsView(draw_bars(title, groups, in_words), tuple(rows), unit, whole)


def _order(timeline: Any, mesh: Mesh) -> OrderView | None:
    if not isinstance(timeline, dict):
        return None
    mine, reference = (read.read_blocks(timeline.get(key))[:MAX_BLOCKS] for key in ("mine", "reference"))
    if not mine and not reference:
        return None
    picture = draw_timeline(f"Collectives in program order, {mesh}", mine, reference)
    return OrderView(picture, tuple(map(block_text, mine)), tuple(map(block_text, reference)))
