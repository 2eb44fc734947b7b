"""A small picture of each example: how an input is split over its mesh, and the collectives of its result."""

from dataclasses import dataclass
from functools import cache

from markupsafe import Markup

from app.learning.explorer.examples import shipped_results
from app.presentation.drawings.mesh import draw_as_cells
from app.presentation.drawings.placement import Mesh, group_leaves, label
from app.presentation.drawings.timeline import calls_of, draw_strip, kind_number
from grader.explorer.exploration import ExploredProgram


@dataclass(frozen=True, slots=True)
class Picture:
    """`collectives` has the name of each kind and the number of its colour."""

    mesh: Markup
    strip: Markup
    collectives: tuple[tuple[str, int], ...]


@cache
def picture_of(slug: str) -> Picture:
    """Drawn from the result that ships."""
    [program] = shipped_results()[slug].programs
    kinds = dict.fromkeys(each.collective for each in program.collectives)
    strip = draw_strip(calls_of(program.collectives), "Collectives in program order, as wide as their bytes")
    return Picture(_split(program), strip, tuple((label(kind), kind_number(kind)) for kind in kinds))


def _split(program: ExploredProgram) -> Markup:
    """The input with most different slices, on the devices of the mesh."""
    mesh = Mesh.of(program.mesh)
    leaves = group_leaves([each for each in program.leaves.leaves if each.when == "in"], mesh)
    leaf = max(leaves, key=lambda each: len(set(each.got or ())))
    assert leaf.got is not None
    title = f"{leaf.paths[0]} on mesh {mesh}"
    return draw_as_cells(mesh, leaf, leaf.got, title=title, small=True)
