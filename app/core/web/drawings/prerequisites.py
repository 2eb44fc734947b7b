"""Which problem builds on which: boxes that are links, from left to right, with an arrow for each prerequisite."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from app.core.web.drawings.svg import element

_WIDTH, _HEIGHT = 204, 52
_ACROSS, _DOWN = 56, 14
_MARGIN = 8
_LETTERS = 23
_LINES = 2
# What a reader who sees no colour knows a state by.
_MARKS = {"new": "", "tried": "…", "solved": "✓"}


@dataclass(frozen=True, slots=True)
class Box:
    """A problem, and the ids of those that should be solved before it."""

    id: str
    title: str
    href: str
    state: str
    needs: tuple[str, ...]


def draw_map(boxes: Sequence[Box], title: str) -> Markup:
    """Draw each box to the right of all that it needs. Not an image but a group, so that its links can be reached."""
    places = place(boxes)
    shapes = [
        _arrow(places[need], places[box.id])
        for box in boxes
        for need in box.needs
        if need in places and places[need][0] < places[box.id][0]
    ]
    shapes += [_box(box, *places[box.id]) for box in boxes]
    columns = max((column for column, _ in places.values()), default=0) + 1
    rows = max((row for _, row in places.values()), default=0) + 1
    width = columns * _WIDTH + (columns - 1) * _ACROSS + 2 * _MARGIN
    height = rows * _HEIGHT + (rows - 1) * _DOWN + 2 * _MARGIN
    return element(
        "svg",
        *shapes,
        class_="drawing prerequisites",
        role="group",
        aria_label=title,
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
    )


def place(boxes: Sequence[Box]) -> dict[str, tuple[int, int]]:
    """Column and row of each box: a column right of all that it needs, in the first row that is free there."""
    needs = {box.id: tuple(need for need in box.needs if need != box.id) for box in boxes}
    columns = dict.fromkeys(needs, 0)
    # One round per box is enough for any order; problems that need each other stop where the rounds do.
    for _ in boxes:
        for id, before in needs.items():
            columns[id] = max((min(columns[each] + 1, len(boxes) - 1) for each in before if each in columns), default=0)
    places: dict[str, tuple[int, int]] = {}
    free: dict[int, int] = {}
    for box in sorted(boxes, key=lambda box: columns[box.id]):
        column = columns[box.id]
        beside = max((places[need][1] for need in needs[box.id] if need in places), default=0)
        row = max(free.get(column, 0), beside)
        places[box.id], free[column] = (column, row), row + 1
    return places


def _corner(column: int, row: int) -> tuple[int, int]:
    return _MARGIN + column * (_WIDTH + _ACROSS), _MARGIN + row * (_HEIGHT + _DOWN)


def _box(box: Box, column: int, row: int) -> Markup:
    x, y = _corner(column, row)
    lines = textwrap.wrap(box.title, _LETTERS, max_lines=_LINES, placeholder=" …")
    first = y + _HEIGHT / 2 + 4 - (len(lines) - 1) * 7.5
    mark = _MARKS[box.state]
    return element(
        "a",
        element("title", f"{box.title}: {box.state}"),
        element("rect", x=x, y=y, width=_WIDTH, height=_HEIGHT, rx=6),
        *[element("text", line, x=x + 12, y=first + 15 * number) for number, line in enumerate(lines)],
        *([element("text", mark, x=x + _WIDTH - 12, y=y + _HEIGHT / 2 + 4, class_="mark")] if mark else []),
        href=box.href,
        class_=f"box is-{box.state}",
    )


def _arrow(start: tuple[int, int], end: tuple[int, int]) -> Markup:
    (left, top), (right, below) = _corner(*start), _corner(*end)
    x1, y1, x2, y2 = left + _WIDTH, top + _HEIGHT / 2, right - 2, below + _HEIGHT / 2
    if end[0] == start[0] + 1:
        curve = f"M{x1} {y1:g}C{x2 - 24} {y1:g} {x1 + 24} {y2:g} {x2 - 8} {y2:g}H{x2}"
    else:
        # Past other columns: along the gap above the end's row, so that it crosses no box.
        gap = below - _DOWN / 2
        curve = f"M{x1} {y1:g}C{x1 + 28} {y1:g} {x1} {gap:g} {x1 + 36} {gap:g}"
        curve += f"H{x2 - 34}C{x2 - 8} {gap:g} {x2 - 34} {y2:g} {x2 - 8} {y2:g}H{x2}"
    return element("path", d=f"{curve}m-6 -4l6 4l-6 4", class_="arrow")
