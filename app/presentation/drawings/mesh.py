"""Draws the devices of a mesh: a small picture of a leaf for each one, in which its slice is filled."""

import math
from collections import Counter

from markupsafe import Markup

from app.core.web.svg import drawing, element, hatching
from app.presentation.drawings.cells import Cell, draw_cells
from app.presentation.drawings.placement import Leaf, Mesh
from grader.verdicts.evidence import Held, Slices

WHOLE = "all"
# With more devices than this, a box for each would be longer than the page is for everything else.
MAX_BOXES = 16
# Each kind of fill in drawings.css has eight colours. Beyond all of them, only letters distinguish slices.
_COLOURS, _FILLS = 8, 8
_CELL, _BOX = 40.0, 34.0
_HEAD, _FOOT, _MARGIN = 12.0, 14.0, 34.0
_STRIP = 10.0
_SWATCH = 7.0
# A mesh with one axis is drawn as rows of this many devices.
_ROW = 8
_THINNEST = 1.5
# In anything narrower, the lines would only make it faint.
_NARROWEST_HATCH = 6.0


def letters_of(leaf: Leaf) -> dict[Slices, str]:
    """A letter for each distinct slice, the same in expected and got. The whole leaf is "all"."""
    letters: dict[Slices, str] = {}
    whole = tuple((0, size) for size in leaf.shape)
    for slices in (leaf.expected or ()) + (leaf.got or ()):
        if slices not in letters:
            lettered = len(letters) - (whole in letters)
            letters[slices] = WHOLE if slices == whole else _letter(lettered)
    return letters


def draw_placement(mesh: Mesh, leaf: Leaf, placement: Held, *, title: str, compare_with: Held | None = None) -> Markup:
    """Draw the slice of each device: in a box, or a small cell for each of many devices."""
    draw = draw_mesh if mesh.devices <= MAX_BOXES else draw_as_cells
    return draw(mesh, leaf, placement, title=title, compare_with=compare_with)


def draw_square(mesh: Mesh, leaf: Leaf, placement: Held, *, title: str) -> Markup:
    """Draw the slice of each device, with those of a single axis in rows: about as high as wide."""
    if mesh.devices > MAX_BOXES:
        return draw_as_cells(mesh, leaf, placement, title=title)
    return draw_mesh(mesh, leaf, placement, title=title, row=math.ceil(math.sqrt(mesh.devices * 1.5)))


def draw_mesh(
    mesh: Mesh, leaf: Leaf, placement: Held, *, title: str, compare_with: Held | None = None, row: int = _ROW
) -> Markup:
    """Draw the slice of each device.

    Args:
      row: how many devices of a single axis are in a row.
      placement: for each device in mesh order, a slice of each dimension of `leaf`.
      compare_with: devices whose slice differs from this are hatched and marked with a cross.
    """
    letters = letters_of(leaf)
    columns, rows, left = _grid(mesh, row)
    box_width, box_height = _box(leaf)
    row_height = _HEAD + box_height + _FOOT + 4
    shapes = _axis_labels(mesh, columns, rows, left, row_height)
    for device, slices in enumerate(placement):
        row, column = divmod(device, columns)
        x = left + column * _CELL + (_CELL - box_width) / 2
        y = _HEAD + row * row_height + _HEAD
        wrong = compare_with is not None and compare_with[device] != slices
        shapes += _device(device, slices, leaf, letters, (x, y, box_width, box_height), wrong)
    width, height = left + columns * _CELL, _HEAD + rows * row_height
    return drawing("mesh", width, height, title, describe(mesh, placement, leaf), *shapes)


def draw_devices(mesh: Mesh, shape: tuple[int, ...], *, title: str, description: str, marked: int | None) -> Markup:
    """Draw each device as an empty array of this shape. A script may fill the slices: answer_mesh.js."""
    columns, rows, left = _grid(mesh)
    box_width, box_height = _proportions(shape)
    row_height = _HEAD + box_height + _FOOT + 4
    shapes = _axis_labels(mesh, columns, rows, left, row_height)
    for device in range(mesh.devices):
        row, column = divmod(device, columns)
        x = left + column * _CELL + (_CELL - box_width) / 2
        y = 2 * _HEAD + row * row_height
        middle = x + box_width / 2
        box = element("rect", x=x, y=y, width=box_width, height=box_height, class_="leaf")
        name = element("text", str(device), x=middle, y=y - 3, class_="device")
        letter = element("text", "", x=middle, y=y + box_height + 11, class_="letter")
        class_ = "marked" if device == marked else None
        shapes.append(element("g", name, box, letter, data_device=str(device), class_=class_))
    width, height = left + columns * _CELL, _HEAD + rows * row_height
    return drawing("mesh", width, height, title, description, *shapes)


def draw_as_cells(
    mesh: Mesh, leaf: Leaf, placement: Held, *, title: str, compare_with: Held | None = None, small: bool = False
) -> Markup:
    """The same for many devices: a cell for each, and devices with the same slice have the same colour."""
    letters = letters_of(leaf)
    looks = {slices: _shard_class(slices, letters) for slices in letters}
    cells = [
        Cell(
            looks[slices] + (" wrong" if compare_with is not None and compare_with[device] != slices else ""),
            "",
            f"{mesh.coordinates(device)}: {letters[slices]} {slices_text(slices, leaf.shape)}",
        )
        for device, slices in enumerate(placement)
    ]
    return draw_cells(mesh, cells, title, describe(mesh, placement, leaf), small=small)


def describe(mesh: Mesh, placement: Held, leaf: Leaf) -> str:
    """A sentence that says what the drawing shows."""
    if mesh.devices == 1:
        return "Whole on the only device."
    copies = Counter(placement)
    whole = tuple((0, size) for size in leaf.shape)
    if set(copies) == {whole}:
        return f"Whole on each of the {mesh.devices} devices."
    if len(copies) == mesh.devices:
        return f"Split into {mesh.devices} slices, one on each device."
    if len(set(copies.values())) == 1:
        each = next(iter(copies.values()))
        if len(copies) == 1:
            return f"The same slice on each of the {mesh.devices} devices."
        return f"Split into {len(copies)} slices, each on {each} devices."
    return f"{len(copies)} different slices on {mesh.devices} devices, some on more devices than others."


def is_whole(placement: Held | None, shape: tuple[int, ...]) -> bool:
    """Whether every device has all of the leaf."""
    whole = tuple((0, size) for size in shape)
    return placement is not None and all(slices == whole for slices in placement)


def slices_text(slices: Slices, shape: tuple[int, ...]) -> str:
    """Slices in Python's notation, such as `[0:8, :]`; empty for a scalar."""
    if not shape:
        return ""
    parts = [
        ":" if (start, stop) == (0, size) else f"{start}:{stop}"
        for (start, stop), size in zip(slices, shape, strict=True)
    ]
    return f"[{', '.join(parts)}]"


def drawn_dims(leaf: Leaf) -> tuple[int, ...]:
    """The two dimensions that a picture shows: the last two that are split, or else the last ones."""
    split = [
        dim
        for dim, size in enumerate(leaf.shape)
        if any(slices[dim] != (0, size) for slices in (leaf.expected or ()) + (leaf.got or ()))
    ]
    chosen = split[-2:]
    for dim in reversed(range(len(leaf.shape))):
        if len(chosen) < 2 and dim not in chosen:
            chosen.append(dim)
    return tuple(sorted(chosen))


def _device(
    device: int,
    slices: Slices,
    leaf: Leaf,
    letters: dict[Slices, str],
    box: tuple[float, float, float, float],
    wrong: bool,
) -> list[Markup]:
    x, y, width, height = box
    letter = letters[slices]
    part = _part(slices, leaf, box)
    middle = x + width / 2
    shapes = [
        element("text", str(device), x=middle, y=y - 3, class_="device"),
        element("rect", x=x, y=y, width=width, height=height, class_="leaf"),
    ]
    look = _shard_class(slices, letters)
    if len(letters) > _COLOURS:
        swatch = {"x": x, "y": y - _SWATCH - 3, "width": _SWATCH, "height": _SWATCH}
        shapes.append(element("rect", **swatch, class_=f"swatch {look}"))
    if part:
        shapes.append(element("rect", **_sides(part), class_=f"shard {look}"))
        if wrong and min(part[2:]) >= _NARROWEST_HATCH:
            shapes.append(hatching(*part, "hatch"))
    if wrong:
        shapes.append(element("rect", x=x, y=y, width=width, height=height, class_="wrong"))
    shapes.append(
        element(
            "text",
            f"{letter} ✗" if wrong else letter,
            x=middle,
            y=y + height + 11,
            class_="letter is-wrong" if wrong else "letter",
        )
    )
    return shapes


def _shard_class(slices: Slices, letters: dict[Slices, str]) -> str:
    """The colour of a slice, and beyond the last colour another kind of fill."""
    if letters[slices] == WHOLE:
        return "shard-all"
    lettered = [each for each, letter in letters.items() if letter != WHOLE]
    fill, colour = divmod(lettered.index(slices), _COLOURS)
    return f"shard-{colour + 1}" + (f" fill-{fill % _FILLS + 1}" if fill % _FILLS else "")


def _part(
    slices: Slices, leaf: Leaf, box: tuple[float, float, float, float]
) -> tuple[float, float, float, float] | None:
    """The part of the box that the slice fills; `None` if the slice is empty."""
    if any(start == stop for start, stop in slices):
        return None
    x, y, width, height = box
    dims = drawn_dims(leaf)
    # A leaf with one dimension is a strip: the dimension runs from left to right, like the last one of any other leaf.
    spans = [(0.0, 1.0)] * (2 - len(dims)) + [
        (slices[dim][0] / leaf.shape[dim], slices[dim][1] / leaf.shape[dim]) for dim in dims
    ]
    top, bottom = (y + height * end for end in spans[0])
    start, stop = (x + width * end for end in spans[1])
    return start, top, max(stop - start, _THINNEST), max(bottom - top, _THINNEST)


def _box(leaf: Leaf) -> tuple[float, float]:
    """The size of a leaf's picture: in proportion, but never so flat that slices look the same."""
    return _proportions(tuple(leaf.shape[dim] for dim in drawn_dims(leaf)))


def _proportions(shape: tuple[int, ...]) -> tuple[float, float]:
    if len(shape) == 0:
        return _STRIP, _STRIP
    if len(shape) == 1:
        return _BOX, _STRIP
    rows, columns = (max(size, 1) for size in shape)
    ratio = min(max(rows / columns, 0.65), 1.55)
    return (_BOX, _BOX * ratio) if ratio <= 1 else (_BOX / ratio, _BOX)


def _grid(mesh: Mesh, row: int = _ROW) -> tuple[int, int, float]:
    """The columns and rows of devices, and where the first column begins."""
    columns = min(mesh.devices, row) if len(mesh.axes) < 2 else mesh.axes[-1][1]
    return columns, math.ceil(mesh.devices / columns), _MARGIN if len(mesh.axes) > 1 else 0.0


def _axis_labels(mesh: Mesh, columns: int, rows: int, left: float, row_height: float) -> list[Markup]:
    if not mesh.axes:
        return []
    shapes = [element("text", f"{_short(mesh.axes[-1][0])} →", x=left, y=9, class_="axis")]
    if len(mesh.axes) > 1:
        leading = ", ".join(_short(name) for name, _ in mesh.axes[:-1])
        shapes.append(element("text", f"{_short(leading)} ↓", x=0, y=9, class_="axis"))
        for row in range(rows):
            index = ",".join(map(str, Mesh(mesh.axes[:-1]).indices(row)))
            shapes.append(element("text", index, x=4, y=2 * _HEAD + row * row_height + 12, class_="axis"))
    return shapes


def _sides(part: tuple[float, float, float, float]) -> dict[str, float]:
    return dict(zip(("x", "y", "width", "height"), part, strict=True))


def _short(name: str) -> str:
    return name if len(name) <= 7 else f"{name[:6]}…"


def _letter(index: int) -> str:
    """A to Z, then AA and so on."""
    return (_letter(index // 26 - 1) if index >= 26 else "") + chr(ord("A") + index % 26)
