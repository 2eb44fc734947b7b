"""Where a lesson leads: the stop that follows it in the journey."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.learning.lessons.lesson import Lesson


@dataclass(frozen=True, slots=True)
class NextStop:
    """A lesson or a problem."""

    href: str
    title: str


def next_stop(lesson: Lesson, lessons: Sequence[Lesson], titles: Mapping[str, str]) -> NextStop | None:
    """The next lesson that stops at the same problem, or else that problem. If none is served, the next lesson.

    Args:
      lessons: all of them, in order.
      titles: of the problems that are served, by slug.
    """
    first = _first_served(lesson, titles)
    after = list(lessons)[list(lessons).index(lesson) + 1 :]
    if following := next((each for each in after if first in (None, _first_served(each, titles))), None):
        return NextStop(f"/lessons/{following.slug}", following.title)
    return NextStop(f"/problems/{first}", titles[first]) if first else None


def _first_served(lesson: Lesson, titles: Mapping[str, str]) -> str | None:
    return next((slug for slug in lesson.problems if slug in titles), None)
