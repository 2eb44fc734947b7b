"""What an assistant of a course may do in it beyond grading, one right at a time, as its instructors decide.

Reading the gradebook, the statistics and what students submitted, and giving points and comments, is open to every
assistant.
"""

from collections.abc import Collection
from typing import Literal, get_args

from app.teaching.courses.errors import RightMissing

Right = Literal["similarity", "insight", "extensions", "announcements", "roster"]
RIGHTS: tuple[Right, ...] = get_args(Right)
# What an assistant has until an instructor decides: grading alone.
USUAL_RIGHTS: frozenset[Right] = frozenset()
RIGHT_MEANINGS: dict[Right, str] = {
    "similarity": "read which submissions are alike, at problems of the course's assignments",
    "insight": "read how the course's students do at the problems of its assignments, and where they stop",
    "extensions": "give students extra time and attempts",
    "announcements": "post and remove announcements",
    "roster": "read and import the roster, invite people, and add and remove students",
}


def read_rights(stored: str | None) -> frozenset[Right]:
    return USUAL_RIGHTS if stored is None else frozenset(each for each in RIGHTS if each in stored.split(","))


def stored_rights(rights: Collection[Right]) -> str:
    return ",".join(each for each in RIGHTS if each in rights)


def rights_in_words(rights: Collection[Right]) -> str:
    return ", ".join(each for each in RIGHTS if each in rights) or "none"


def right_missing(right: Right, course: str) -> RightMissing:
    return RightMissing(
        f"You are an assistant of {course}, and this requires the right {right!r} ({RIGHT_MEANINGS[right]}). "
        "An instructor of the course can give it to you in the course's settings, under Assistants.",
        right=right,
    )
