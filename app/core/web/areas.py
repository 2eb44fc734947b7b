"""The areas for those who teach and those who run the service: the pages in each, and the role that each needs."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a side bar. Owners may do what instructors may."""

    path: str
    text: str
    minimum: Literal["instructor", "owner"]


AREAS: dict[str, tuple[Entry, ...]] = {
    "Teach": (
        Entry("/teach", "Overview", "instructor"),
        Entry("/courses", "Courses", "instructor"),
        Entry("/people", "People", "instructor"),
        Entry("/account/invitations", "Invitations", "instructor"),
        Entry("/insight", "Insight", "instructor"),
        Entry("/reports", "Reported faults", "instructor"),
        Entry("/authoring", "Authoring", "instructor"),
        Entry("/repositories", "Repositories", "instructor"),
    ),
    "Admin": (
        Entry("/admin", "Overview", "owner"),
        Entry("/service", "Service", "owner"),
        Entry("/lti/platforms", "Learning platforms", "owner"),
        Entry("/audit", "Audit log", "owner"),
    ),
}
_INCLUDED = {"instructor": {"instructor"}, "owner": {"instructor", "owner"}}


def side_bar(role: str, path: str) -> tuple[str, tuple[Entry, ...]]:
    """The name of the area with the entry `path`, and those of its entries that someone with this role may open."""
    name, entries = next((name, entries) for name, entries in AREAS.items() if path in {each.path for each in entries})
    return name, tuple(each for each in entries if each.minimum in _INCLUDED.get(role, ()))
