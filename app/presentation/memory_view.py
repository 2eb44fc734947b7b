"""Arranges the bytes of the inputs that each device holds, as a drawing and in words."""

import math
from dataclasses import dataclass

from markupsafe import Markup

from app.core.web.units import bytes_text
from app.presentation.drawings.cells import draw_cells, draw_heat_scale, heat_cells, sizes_in_words
from app.presentation.drawings.placement import Mesh
from grader.core.item_sizes import LEAF_DTYPES, bytes_of
from grader.explorer.exploration import ExploredProgram


@dataclass(frozen=True, slots=True)
class HeatView:
    """The bytes of the inputs on each device, in words. They are drawn beside their scale if devices differ."""

    drawing: Markup | None
    scale: Markup | None
    words: str


def device_bytes(program: ExploredProgram) -> list[int] | None:
    """The bytes of the inputs that each device holds, or None if they are unknown for a leaf."""
    devices = math.prod(program.mesh.values())
    total = [0] * devices
    for leaf in program.leaves.leaves:
        if leaf.when == "out":
            continue
        if leaf.got is None or len(leaf.got) != devices or leaf.dtype not in LEAF_DTYPES:
            return None
        for device, slices in enumerate(leaf.got):
            total[device] += bytes_of(math.prod(stop - start for start, stop in slices), leaf.dtype)
    return None if program.unlisted_leaves else total


def arrange_heat(program: ExploredProgram) -> HeatView | None:
    """Return None if there are no inputs or their sizes are unknown."""
    mesh, sizes = Mesh.of(program.mesh), device_bytes(program)
    if not sizes or not any(sizes):
        return None
    whole = next((row.whole for row in program.memory.rows if row.whole), None) or max(sizes)
    words = f"{sizes_in_words(sizes)}, of {bytes_text(whole)} in all"
    if len(set(sizes)) == 1:
        return HeatView(None, None, words)
    drawing = draw_cells(mesh, heat_cells(mesh, sizes), f"Bytes of inputs on mesh {mesh}", words)
    return HeatView(drawing, draw_heat_scale(sizes), words)
