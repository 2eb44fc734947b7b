"""Draws the devices of a mesh as cells, in the mesh's own proportions: a 2x4 mesh is 2 rows of 4 cells."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from markupsafe import Markup

from app.core.web.svg import drawing, element
from app.core.web.units import bytes_text
from app.presentation.drawings.placement import Mesh, label

_HEAT = 4
# A cell with a text is wide enough for `1,023.9 MiB`; of many devices, each is a small square.
_WIDE, _HIGH, _SMALL, _GAP = 58.0, 30.0, 11.0, 2.0
_MOST_TEXTS = 16
_EDGE = 1.0
_TALLEST = 16


@dataclass(frozen=True, slots=True)
class Cell:
    """A device: a class of drawings.css that colours it, what it says, and what a pointer on it shows."""

    look: str
    text: str
    title: str


def draw_cells(mesh: Mesh, cells: Sequence[Cell], title: str, description: str, *, small: bool = False) -> Markup:
    """Draw each device, below the names of the axes. Many cells or small ones have no text."""
    with_texts = len(cells) <= _MOST_TEXTS and not small and any(cell.text for cell in cells)
    width, height = (_WIDE, _HIGH) if with_texts else (_SMALL, _SMALL)
    places = _places(mesh)
    shapes: list[Markup] = []
    for (column, row, blocks), cell in zip(places, cells, strict=True):
        x, y = _EDGE + column * (width + _GAP) + blocks * 3 * _GAP, _EDGE + row * (height + _GAP)
        rectangle = element("rect", x=x, y=y, width=width, height=height, rx=1.5, class_=f"cell {cell.look}")
        text = [element("text", cell.text, x=x + width / 2, y=y + height / 2 + 4, class_="cell-text")]
        shapes.append(element("g", element("title", cell.title), rectangle, *(text if with_texts else [])))
    right = max(column * (width + _GAP) + blocks * 3 * _GAP for column, _, blocks in places) + width
    bottom = max(row for _, row, _ in places) * (height + _GAP) + height
    picture = drawing("cells", right + 2 * _EDGE, bottom + 2 * _EDGE, title, description, *shapes)
    if small:
        return picture
    # Not in the drawing, which is scaled down where there is little room.
    return element("div", element("span", axes_in_words(mesh), class_="soft small"), picture, class_="cells")


def heat_cells(mesh: Mesh, sizes: Sequence[int]) -> list[Cell]:
    """Bytes of each device, darker where there are more, as `draw_heat_scale` says."""
    most = max(sizes)
    return [
        Cell(
            f"heat-{-(-size * _HEAT // most) if most else 0}",
            bytes_text(size),
            f"device {device}{f' ({mesh.coordinates(device)})' if len(mesh.axes) > 1 else ''}: {bytes_text(size)}",
        )
        for device, size in enumerate(sizes)
    ]


def draw_heat_scale(sizes: Sequence[int]) -> Markup:
    """What the colours of `heat_cells` stand for: the most bytes of each."""
    most = max(sizes)
    bounds = [most * part // _HEAT for part in range(0 if 0 in sizes else 1, _HEAT + 1)]
    shapes: list[Markup] = []
    for column, (look, bound) in enumerate(zip(range(_HEAT + 1 - len(bounds), _HEAT + 1), bounds, strict=True)):
        x = _EDGE + column * (_WIDE + _GAP)
        shapes.append(element("rect", x=x, y=_EDGE, width=_WIDE, height=_SMALL, class_=f"cell heat-{look}"))
        shapes.append(element("text", bytes_text(bound), x=x + _WIDE, y=_EDGE + _SMALL + 12, class_="label"))
    words = ", ".join(f"up to {bytes_text(bound)}" for bound in bounds)
    width = len(bounds) * (_WIDE + _GAP) + 2 * _EDGE
    return drawing("cells", width, _SMALL + 16 + 2 * _EDGE, "The scale, from light to dark", words, *shapes)


def sizes_in_words(sizes: Sequence[int]) -> str:
    """`24.0 MiB on each of the 64 devices`, or the same for each run of devices that hold equally much."""
    if len(set(sizes)) == 1:
        return f"{bytes_text(sizes[0])} on each of the {len(sizes)} devices" if len(sizes) > 1 else bytes_text(sizes[0])
    runs = [[each[0] for each in run] for _, run in groupby(enumerate(sizes), key=lambda pair: pair[1])]
    parts = [
        f"{bytes_text(sizes[run[0]])} on device{f's {run[0]} to {run[-1]}' if len(run) > 1 else f' {run[0]}'}"
        for run in runs[:8]
    ]
    return ", ".join(parts) + (f", and {len(runs) - 8} more ranges" if len(runs) > 8 else "")


def is_turned(mesh: Mesh) -> bool:
    """Whether the first axis runs to the right, because the drawing would be too tall otherwise."""
    return len(mesh.axes) == 2 and mesh.axes[0][1] > max(_TALLEST, mesh.axes[1][1])


def _places(mesh: Mesh) -> list[tuple[int, int, int]]:
    """Column, row and number of gaps to the left of each device. Blocks of two axes are beside each other."""
    if len(mesh.axes) < 2:
        columns = mesh.devices if mesh.devices <= 8 else 2 ** math.ceil(math.log2(mesh.devices) / 2 + 0.5)
        return [(device % columns, device // columns, 0) for device in range(mesh.devices)]
    found = []
    for device in range(mesh.devices):
        *leading, row, column = mesh.indices(device)
        if is_turned(mesh):
            row, column = column, row
        block = 0
        for index, (_, size) in zip(leading, mesh.axes, strict=False):
            block = block * size + index
        found.append((column + block * mesh.axes[-1][1], row, block))
    return found


def axes_in_words(mesh: Mesh) -> str:
    """Which axis runs where: `data ↓ model →`."""
    names = [label(name) for name, _ in mesh.axes]
    if len(names) < 2:
        return "".join(f"{name} →" for name in names)
    *blocks, down, across = reversed(names) if is_turned(mesh) else names
    return " ".join([f"{down} ↓", f"{', '.join([*blocks, across])} →"])
