"""The journey: each track as a line, with its lessons and problems as stops in the order of the curriculum."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from app.learning.browse.catalogue_listing import Group, Listing, Row
from app.learning.lessons.lesson import Lesson

StopState = Literal["read", "lesson", "solved", "tried", "open", "later"]


@dataclass(frozen=True, slots=True)
class Stop:
    """A problem or a lesson. `problems` are the problem itself, or those that the lesson prepares.

    A problem is `later` until its prerequisites are solved or given up.
    """

    href: str
    title: str
    state: StopState
    problems: tuple[str, ...]
    is_lesson: bool = False


@dataclass(frozen=True, slots=True)
class TrackLine:
    """A track with its stops."""

    track: Group
    stops: tuple[Stop, ...]


def lines_of(listing: Listing, lessons: Sequence[Lesson], read: Collection[str]) -> tuple[TrackLine, ...]:
    """A line for each track. A lesson stops before the first of the problems that it lists and that are served.

    Args:
      read: the slugs of the lessons that the reader marked as read.
    """
    served = {row.slug for row in listing.rows}
    before: dict[str, list[Stop]] = {}
    for lesson in lessons:
        prepared = tuple(slug for slug in lesson.problems if slug in served)
        if prepared:
            state: StopState = "read" if lesson.slug in read else "lesson"
            stop = Stop(f"/lessons/{lesson.slug}", lesson.title, state, prepared, is_lesson=True)
            before.setdefault(prepared[0], []).append(stop)
    return tuple(
        TrackLine(group, tuple(stop for row in group.rows for stop in (*before.get(row.slug, ()), _stop(row))))
        for group in listing.groups
    )


def _stop(row: Row) -> Stop:
    state: StopState = row.state if row.state != "new" else "open" if row.is_open else "later"
    return Stop(f"/problems/{row.slug}", row.title, state, (row.slug,))
