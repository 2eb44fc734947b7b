"""Draws the shape of an array as a box, to the scale of the shape that it is compared with."""

import math
from collections.abc import Collection, Sequence
from difflib import SequenceMatcher

from markupsafe import Markup

from app.core.web.svg import drawing, element

Shape = tuple[int, ...]
_LONGEST, _ELEMENT, _THINNEST = 84.0, 12.0, 3.0
# The height of an array with one dimension.
_FLAT = 8.0
_LINE, _GAP, _DIGIT, _BEHIND = 15.0, 4.0, 6.6, 4.0
_LONGEST_NUMBER = 10**10


def odd_dims(expected: Shape, got: Shape) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The dimensions of `expected` that are missing in `got`, and those of `got` that are not as expected."""
    if len(expected) == len(got):
        return (), tuple(dim for dim in range(len(got)) if expected[dim] != got[dim])
    blocks = SequenceMatcher(None, expected, got, autojunk=False).get_matching_blocks()
    matched = [(each.a + step, each.b + step) for each in blocks for step in range(each.size)]
    here, there = {dim for dim, _ in matched}, {dim for _, dim in matched}
    return (
        tuple(dim for dim in range(len(expected)) if dim not in here),
        tuple(dim for dim in range(len(got)) if dim not in there),
    )


def drawn_sides(expected: Shape, got: Shape) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """At most two dimensions of each: the last two that differ, filled up with the last ones."""
    chosen = list(odd_dims(expected, got)[1][-2:]) if len(expected) == len(got) else []
    sides = []
    for shape in (expected, got):
        others = [dim for dim in reversed(range(len(shape))) if dim not in chosen]
        sides.append(tuple(sorted(chosen + others[: 2 - len(chosen)])))
    return sides[0], sides[1]


def is_to_scale(sizes: Sequence[int]) -> bool:
    """Whether none is so short beside the longest that it is drawn longer than it should be."""
    return all(_length(size, sizes) > _THINNEST for size in sizes)


def draw_shape(shape: Shape, sides: Sequence[int], scale: Sequence[int], odd: Collection[int], *, title: str) -> Markup:
    """Draw two dimensions of an array as the sides of a box. More dimensions are a number of boxes.

    Args:
      sides: the dimensions to draw: rows, which run downwards, and columns. A single one runs to the right.
      scale: the sizes that all boxes draw, so that they have one scale.
      odd: the dimensions to mark as wrong.
    """
    row_dim, column_dim = [None] * (2 - len(sides)) + list(sides)
    height, width = (_FLAT if dim is None else _length(shape[dim], scale) for dim in (row_dim, column_dim))
    rows, columns = ("" if dim is None else _number(shape[dim], dim in odd) for dim in (row_dim, column_dim))
    others = [dim for dim in range(len(shape)) if dim not in sides]
    is_odd = any(dim in odd for dim in others)
    below = f"{_number(math.prod(shape[dim] for dim in others), is_odd)} of these" if others else ""
    left = _DIGIT * len(rows) + _GAP if rows else 0.0
    across = max(width, _DIGIT * len(columns), _DIGIT * len(below))
    x, middle = left + (across - width) / 2, left + across / 2
    # Boxes behind the first one stand for the dimensions that are not drawn.
    steps = (2 * _BEHIND, _BEHIND, 0.0) if others else (0.0,)
    y = _LINE + steps[0]
    size = {"width": width, "height": height}
    shapes = [element("rect", x=x + step, y=y - step, class_="array", **size) for step in steps]
    for dim, path, text, name, at in (
        (column_dim, f"M{x:g} {y:g}h{width:g}", columns, "columns", {"x": middle, "y": _LINE - _GAP}),
        (row_dim, f"M{x:g} {y:g}v{height:g}", rows, "rows", {"x": x - _GAP, "y": y + height / 2 + _GAP}),
    ):
        if dim is not None:
            shapes.append(element("text", text, class_=f"{name} is-wrong" if dim in odd else name, **at))
            shapes += [element("path", d=path, class_="wrong")] if dim in odd else []
    bottom = y + max(height, _LINE)
    if others:
        bottom += _LINE
        look = "columns is-wrong" if is_odd else "columns"
        shapes.append(element("text", below, x=middle, y=bottom - _GAP, class_=look))
    return drawing("shape", left + across + 2 * _BEHIND, bottom + _GAP, title, "", *shapes)


def shape_words(expected: Shape, got: Shape) -> str:
    """`Dimension 0 is 32 instead of 64.` or `2 dimensions instead of 3: the 4 is missing.`"""
    missing, odd = odd_dims(expected, got)
    if len(expected) != len(got):
        number = f"{len(got)} dimension{'' if len(got) == 1 else 's'} instead of {len(expected)}"
        if len(missing) == 1 and not odd:
            return f"{number}: the {_number(expected[missing[0]])} is missing."
        if len(odd) == 1 and not missing:
            return f"{number}: the {_number(got[odd[0]])} is one too many."
        return f"{number}."
    each = [f"dimension {dim} is {_number(got[dim])} instead of {_number(expected[dim])}" for dim in odd]
    more = len(each) - 3
    listed = "; ".join(each[:3] + ([f"and {more} more"] if more > 0 else []))
    return f"{listed[:1].upper()}{listed[1:]}." if listed else ""


def _length(size: int, scale: Sequence[int]) -> float:
    """The length of a side. Whole numbers of any size: a float could not hold their ratio."""
    most = max(scale, default=0)
    longest = _LONGEST if most * _ELEMENT > _LONGEST else _ELEMENT * most
    return max(longest * (size * 10_000 // max(most, 1)) / 10_000, _THINNEST)


def _number(size: int, is_odd: bool = False) -> str:
    text = f"{size:,}" if size < _LONGEST_NUMBER else f"over {_LONGEST_NUMBER:,}"
    return f"✗ {text}" if is_odd else text
