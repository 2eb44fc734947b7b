"""The list of lessons: each with a small figure, the track in which the journey stops at it, and what was read."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache

from markupsafe import Markup

from app.learning.browse.catalogue_listing import Group, Listing, Row
from app.learning.browse.journey import lines_of
from app.learning.lessons.lesson import Figure, Lesson, Steps

_SHAPE = re.compile(r'<rect x="([\d.]+)%" y="([\d.]+)" width="([\d.]+)%" height="([\d.]+)"( class="[\w -]+")?/>')
# The figures are drawn this wide, with places and widths in percent.
_WIDTH = 360
_MARGIN = 2
# A figure with more shapes than these is a texture at this size.
_MOST_SHAPES = 120


@dataclass(frozen=True, slots=True)
class Card:
    """A lesson in the list. `problems` are those that it prepares and that are served.

    `track` is null if none is served, and `drawing` is empty if the lesson has no figure.
    """

    number: int
    lesson: Lesson
    is_read: bool
    track: Group | None
    problems: tuple[Row, ...]
    drawing: Markup

    @property
    def solved(self) -> int:
        return sum(row.state == "solved" for row in self.problems)


def list_lessons(listing: Listing, lessons: Sequence[Lesson], read: Collection[str]) -> tuple[Card, ...]:
    """Every lesson, in order.

    Args:
      read: the slugs of the lessons that the reader marked as read.
    """
    rows = {row.slug: row for row in listing.rows}
    lines = lines_of(listing, lessons, read)
    tracks = {stop.slug: line.track for line in lines for stop in line.stops if stop.is_lesson}
    return tuple(
        Card(
            number,
            lesson,
            lesson.slug in read,
            tracks.get(lesson.slug),
            tuple(rows[slug] for slug in lesson.problems if slug in rows),
            draw_small(lesson),
        )
        for number, lesson in enumerate(lessons, 1)
    )


@cache
def draw_small(lesson: Lesson) -> Markup:
    """The lesson's figure that shows most, without its text, which would be too small to read."""
    figures = [part for part in lesson.parts if isinstance(part, Figure)]
    figures += [step.figure for part in lesson.parts if isinstance(part, Steps) for step in part.steps]
    drawn = [_shapes(figure) for figure in figures]
    shapes = max((each for each in drawn if len(each) <= _MOST_SHAPES), key=len, default=[])
    if not shapes:
        return Markup()
    left, top = min(each.x for each in shapes), min(each.y for each in shapes)
    width = max(each.x + each.width for each in shapes) - left
    height = max(each.y + each.height for each in shapes) - top
    view = f"{left - _MARGIN:g} {top - _MARGIN:g} {width + 2 * _MARGIN:g} {height + 2 * _MARGIN:g}"
    # Safe: numbers, and classes that consist of letters, digits and spaces.
    return Markup(f'<svg viewBox="{view}">{"".join(each.svg for each in shapes)}</svg>')


@dataclass(frozen=True, slots=True)
class _Rectangle:
    x: float
    y: float
    width: float
    height: float
    kind: str

    @property
    def svg(self) -> str:
        place = f'x="{self.x:g}" y="{self.y:g}" width="{self.width:g}" height="{self.height:g}"'
        return f"<rect {place}{self.kind}/>"


def _shapes(figure: Figure) -> list[_Rectangle]:
    across = _WIDTH / 100
    return [
        _Rectangle(float(x) * across, float(y), float(width) * across, float(height), kind or "")
        for x, y, width, height, kind in _SHAPE.findall(figure.svg)
    ]
