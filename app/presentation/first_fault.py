"""Finds the drawing that shows a verdict best: of its first fault, or of what an accepted program placed."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from markupsafe import Markup

from app.presentation.drawings.mesh import draw_placement
from app.presentation.drawings.placement import Mesh
from app.presentation.program_evidence import AmountsView, LeafView, MeshesView


@dataclass(frozen=True, slots=True)
class VerdictPicture:
    """One drawing on one mesh: a leaf, amounts, or collectives in program order. The others are None."""

    mesh: Mesh
    leaf: LeafView | None = None
    amounts: AmountsView | None = None
    order: Markup | None = None


def picture_of_fault(failed: Iterable[MeshesView]) -> VerdictPicture | None:
    """The first fault that can be drawn, of checks that did not pass."""
    for view in (view for meshes in failed for view in meshes.shown):
        wrong = next((each for each in view.wrong if each.expected or each.got), None)
        if wrong is not None:
            return VerdictPicture(view.mesh, leaf=wrong)
        for amounts in view.amounts:
            outside = tuple(row for row in amounts.rows if row.fault)
            if outside:
                return VerdictPicture(view.mesh, amounts=replace(amounts, rows=outside))
        if view.orders:
            return VerdictPicture(view.mesh, order=view.orders[0])
    return None


def picture_of_success(passed: Iterable[MeshesView]) -> VerdictPicture | None:
    """What the first check of placements found on its first mesh: a leaf that is split, or else one that is whole."""
    for view in (view for meshes in passed for view in meshes.shown):
        placed = [each for each in view.right if each.leaf.got]
        if placed:
            chosen = next((each for each in placed if each.got), placed[0])
            if not chosen.got and chosen.leaf.got:
                title = f"{chosen.name}, yours, on {view.mesh}"
                chosen = replace(chosen, got=draw_placement(view.mesh, chosen.leaf, chosen.leaf.got, title=title))
            return VerdictPicture(view.mesh, leaf=chosen)
    return None
