"""Finds the drawing that shows a verdict best: of its first fault, or of what an accepted program placed."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from markupsafe import Markup

from app.presentation.drawings.mesh import draw_square
from app.presentation.drawings.placement import Mesh
from app.presentation.fault_views import BarsView, ShapesView
from app.presentation.program_evidence import LeafView, MeshesView

_MAX_BARS = 3


@dataclass(frozen=True, slots=True)
class VerdictPicture:
    """One drawing: two shapes, a leaf, amounts, or collectives in program order. The others are None or empty.

    `mesh` is None for a result without a mesh.
    """

    mesh: Mesh | None = None
    shapes: ShapesView | None = None
    leaf: LeafView | None = None
    bars: tuple[BarsView, ...] = ()
    order: Markup | None = None


def picture_of_fault(failed: Iterable[tuple[ShapesView | None, MeshesView]]) -> VerdictPicture | None:
    """The first fault that can be drawn, of checks that did not pass: what each found in results, and on meshes."""
    for shapes, meshes in failed:
        if shapes is not None:
            return VerdictPicture(shapes=shapes)
        for view in meshes.shown:
            wrong = next((each for each in view.wrong if each.shapes or each.expected or each.got), None)
            if wrong is not None:
                return VerdictPicture(view.mesh, shapes=wrong.shapes, leaf=None if wrong.shapes else wrong)
            if view.bars:
                return VerdictPicture(view.mesh, bars=view.bars[:_MAX_BARS])
            if view.orders:
                return VerdictPicture(view.mesh, order=view.orders[0])
    return None


def picture_of_success(passed: Iterable[MeshesView]) -> VerdictPicture | None:
    """What the first check of placements found on its first mesh: a leaf that is split, or else one that is whole."""
    for view in (view for meshes in passed for view in meshes.shown):
        placed = [each for each in view.right if each.leaf.got]
        if placed:
            chosen = next((each for each in placed if each.got), placed[0])
            if chosen.leaf.got:
                title = f"{chosen.name}, yours, on {view.mesh}"
                chosen = replace(chosen, got=draw_square(view.mesh, chosen.leaf, chosen.leaf.got, title=title))
            return VerdictPicture(view.mesh, leaf=chosen)
    return None
