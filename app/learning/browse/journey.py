"""The journey: each track as a line, with its lessons and problems as stops in the order of the curriculum."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from app.learning.browse.catalogue_listing import Group, Listing, Row
from app.learning.lessons.lesson import Lesson

# Several times as many as there are problems: a row differs between readers by what they have reached.
_MOST_STOPS = 4096
StopState = Literal["read", "lesson", "solved", "tried", "open", "later"]


@dataclass(frozen=True, slots=True)
class Stop:
    """A problem or a lesson. `problems` are the problem itself, or those that the lesson prepares.

    A problem is `later` until its prerequisites are solved or given up. `number` counts the lessons from 1, and is 0
    for a problem, whose `difficulty` and `outcome` a lesson does not have.
    """

    href: str
    title: str
    state: StopState
    problems: tuple[str, ...]
    summary: str
    minutes: int
    number: int = 0
    difficulty: str = ""
    outcome: str = ""

    @property
    def is_lesson(self) -> bool:
        return self.number > 0

    @property
    def slug(self) -> str:
        return self.href.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class TrackLine:
    """A track with its stops. `number` counts the tracks from 1."""

    number: int
    track: Group
    stops: tuple[Stop, ...]

    def __hash__(self) -> int:
        # As for `Row`: the track's rows say what else differs between readers.
        return hash((self.track, tuple(stop.state for stop in self.stops)))

    @property
    def takes(self) -> str:
        """How long its lessons and problems take together."""
        return time_text(sum(stop.minutes for stop in self.stops))


def time_text(minutes: int) -> str:
    """Such as `45 min` or `2.5 hours`: rounded to five minutes or half an hour, because it is an estimate."""
    if minutes < 58:
        return f"{max(5, 5 * round(minutes / 5))} min"
    hours = round(minutes / 30) / 2
    return f"{hours:g} {'hour' if hours == 1 else 'hours'}"


def lines_of(listing: Listing, lessons: Sequence[Lesson], read: Collection[str]) -> tuple[TrackLine, ...]:
    """A line for each track. A lesson stops before the first of the problems that it lists and that are served.

    Args:
      read: the slugs of the lessons that the reader marked as read.
    """
    served = {row.slug for row in listing.rows}
    before: dict[str, list[Stop]] = {}
    for number, lesson in enumerate(lessons, 1):
        prepared = tuple(slug for slug in lesson.problems if slug in served)
        if prepared:
            state: StopState = "read" if lesson.slug in read else "lesson"
            stop = Stop(
                f"/lessons/{lesson.slug}", lesson.title, state, prepared, lesson.summary, lesson.minutes, number
            )
            before.setdefault(prepared[0], []).append(stop)
    return tuple(
        TrackLine(number, group, tuple(stop for row in group.rows for stop in (*before.get(row.slug, ()), _stop(row))))
        for number, group in enumerate(listing.groups, 1)
    )


@lru_cache(_MOST_STOPS)
def _stop(row: Row) -> Stop:
    state: StopState = row.state if row.state != "new" else "open" if row.is_open else "later"
    return Stop(
        f"/problems/{row.slug}",
        row.title,
        state,
        (row.slug,),
        row.summary,
        row.likely_minutes,
        difficulty=row.difficulty,
        outcome=row.outcome,
    )
