"""Draws one quantity as a bar: this program's over the reference's, within what a device would have undivided."""

from collections.abc import Iterable

from markupsafe import Markup

from app.core.web.svg import element, hatching
from grader.verdicts.evidence import Amount, Limit

_WIDTH, _HEIGHT = 300.0, 14.0
_MINE_TOP, _MINE_HEIGHT = 4.0, 6.0
_THINNEST = 1.0


def largest(rows: list[Amount]) -> int:
    """What the whole width of a bar stands for, so that rows can be compared."""
    return max(
        (value for row in rows for value in (row.mine, row.reference, row.whole, row.at_most) if value), default=0
    )


def draw_bar(row: Amount, most: int) -> Markup:
    """Decorative: the numbers are in the table that it belongs to. `most` has the whole width."""
    shapes = [element("path", d=f"M0 0v{_HEIGHT:g}", class_="base")]
    if row.whole:
        shapes.append(
            element("rect", x=0, y=0.5, width=_length(row.whole, most), height=_HEIGHT - 1, class_="bar bar-whole")
        )
    if row.reference:
        length = _length(row.reference, most)
        shapes.append(element("rect", x=0, y=0, width=length, height=_HEIGHT, class_="bar bar-reference"))
        shapes.append(hatching(0, 0, length, _HEIGHT, "hatch"))
    if row.mine:
        kind = "bar bar-mine is-outside" if is_over(row) or is_under(row) else "bar bar-mine"
        size = {"width": _length(row.mine, most), "height": _MINE_HEIGHT}
        shapes.append(element("rect", x=0, y=_MINE_TOP, class_=kind, **size))
    if row.at_most is not None and most:
        shapes.append(element("path", d=f"M{_length(row.at_most, most):g} 0v{_HEIGHT:g}", class_="limit"))
    box = f"0 0 {_WIDTH + 1:g} {_HEIGHT:g}"
    return element("svg", *shapes, class_="bar-drawing", aria_hidden="true", viewBox=box, preserveAspectRatio="none")


def draw_length(value: int, most: int, *, kind: str, bounds: Iterable[int] = ()) -> Markup:
    """One bar of several on the same scale, with a line for each bound. Decorative: its number is beside it."""
    shapes = [
        element("path", d=f"M0 0v{_HEIGHT:g}", class_="base"),
        element("rect", x=0, y=0, width=_length(value, most), height=_HEIGHT, class_=f"bar {kind}"),
    ]
    shapes += [element("path", d=f"M{_length(each, most):g} 0v{_HEIGHT:g}", class_="limit") for each in bounds]
    box = f"0 0 {_WIDTH + 1:g} {_HEIGHT:g}"
    return element("svg", *shapes, class_="bar-drawing", aria_hidden="true", viewBox=box, preserveAspectRatio="none")


def is_over(row: Amount | Limit) -> bool:
    """More than the check accepts."""
    return row.at_most is not None and row.mine is not None and row.mine > row.at_most


def is_under(row: Amount | Limit) -> bool:
    """Less than the check accepts."""
    return row.at_least is not None and row.mine is not None and row.mine < row.at_least


def _length(value: int, most: int) -> float:
    """A small value stays visible next to one that is a thousand times as large."""
    # Whole numbers of any length: a float could not hold them.
    return max(_WIDTH * (value * 10_000 // most) / 10_000, _THINNEST) if value else 0.0
