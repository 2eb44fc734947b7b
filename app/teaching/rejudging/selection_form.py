"""What the form offers that chooses attempts to rejudge, what was typed into it, and a selection in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import parse_qsl

from sqlalchemy import select

from app.accounts.caller import User
from app.accounts.models import UserRow
from app.core.database import Database
from app.core.errors import FieldInvalid, PersonNotFound
from app.core.web.time_zone import chosen_zone
from app.teaching.courses.due_dates import from_local
from app.teaching.courses.models import AssignmentProblemRow, AssignmentRow, CourseRow
from app.teaching.courses.staff import is_taught_by
from app.teaching.rejudging.selection import Selection

MOST_PEOPLE = 500
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Form:
    """The fields as typed. `of` are versions, `scope` is `course:ID` or `assignment:ID`, and `people` are names."""

    version: str
    of: tuple[str, ...] = ()
    scope: str = ""
    people: str = ""
    since: str = ""
    until: str = ""

    @classmethod
    def of_query(cls, query: str) -> "Form":
        """From an address, in which each version has its own field."""
        pairs = parse_qsl(query, errors="replace")
        fields = {name: value for name, value in pairs if name != "of"}
        return cls.of_fields(fields | {"of": " ".join(value for name, value in pairs if name == "of")})

    @classmethod
    def of_fields(cls, fields: Mapping[str, str]) -> "Form":
        """From a form, in which spaces separate the versions."""
        names = ("scope", "people", "since", "until")
        texts = {name: fields.get(name, "").replace("\0", "").replace("\r\n", "\n") for name in names}
        return cls(fields.get("version", ""), tuple(fields.get("of", "").split()), **texts)

    @property
    def is_plain(self) -> bool:
        """Whether it chooses all attempts of other versions, as the button on the page of a version does."""
        return self == Form(self.version)

    @property
    def names(self) -> tuple[str, ...]:
        """One account on each line."""
        return tuple(dict.fromkeys(each.strip()[:_LONGEST_NAME] for each in self.people.split("\n") if each.strip()))

    async def selection(self, database: Database) -> Selection:
        """Raises `FieldInvalid`, `PersonNotFound`, and `AssignmentInvalid` for a date that does not exist."""
        kind, _, chosen = self.scope.partition(":")
        return Selection(
            versions=self.of,
            course=chosen if kind == "course" else None,
            assignment=chosen if kind == "assignment" else None,
            people=await _ids_of(database, self.names),
            since=self._moment("since"),
            until=self._moment("until"),
        )

    def _moment(self, field: str) -> datetime | None:
        text = getattr(self, field)
        return from_local(field, text, chosen_zone() or "UTC", is_due=field == "until") if text else None


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose attempts can be chosen: those of a course, or those submitted for an assignment."""

    value: str
    label: str


async def scopes_of(database: Database, user: User, slug: str) -> list[Scope]:
    """The assignments with a problem, and their courses, by name: of those that the user teaches."""
    query = (
        select(CourseRow.id, CourseRow.name, AssignmentRow.id, AssignmentRow.name)
        .join(AssignmentRow, AssignmentRow.course_id == CourseRow.id)
        .join(AssignmentProblemRow, AssignmentProblemRow.assignment_id == AssignmentRow.id)
        .where(AssignmentProblemRow.problem == slug, is_taught_by(user))
        .order_by(CourseRow.name, CourseRow.id, AssignmentRow.due_at, AssignmentRow.id)
    )
    async with database.reading() as session:
        rows = (await session.execute(query)).all()
    found: dict[str, Scope] = {}
    for course_id, course, assignment_id, assignment in rows:
        of_course, of_assignment = f"course:{course_id}", f"assignment:{assignment_id}"
        found.setdefault(of_course, Scope(of_course, f"Students of {course}"))
        found[of_assignment] = Scope(of_assignment, f"{course}: {assignment}")
    return list(found.values())


async def name_parts(database: Database, user: User, chosen: Selection) -> Selection:
    """The selection for a page, with names for ids. A deleted course, assignment or account has no name, nor has a
    course of others.
    """
    of_course = select(CourseRow.name).where(CourseRow.id == chosen.course, is_taught_by(user))
    of_assignment = (
        select(AssignmentRow.name)
        .join(CourseRow, CourseRow.id == AssignmentRow.course_id)
        .where(AssignmentRow.id == chosen.assignment, is_taught_by(user))
    )
    async with database.reading() as session:
        course = await session.scalar(of_course) if chosen.course else None
        assignment = await session.scalar(of_assignment) if chosen.assignment else None
        named = select(UserRow.name).where(UserRow.id.in_(chosen.people)).order_by(UserRow.name)
        people = list(await session.scalars(named)) if chosen.people else []
    people += ["a deleted account"] * (len(set(chosen.people)) - len(people))
    return Selection.read_from(
        chosen,
        course=(course or "a course that is deleted or not yours") if chosen.course else None,
        assignment=(assignment or "an assignment that is withdrawn or not yours") if chosen.assignment else None,
        people=tuple(people),
    )


async def _ids_of(database: Database, names: Sequence[str]) -> tuple[str, ...]:
    if len(names) > MOST_PEOPLE:
        raise FieldInvalid(f"people: give at most {MOST_PEOPLE} names.")
    async with database.reading() as session:
        rows = await session.execute(select(UserRow.name, UserRow.id).where(UserRow.name.in_(names)))
        known = {name: user_id for name, user_id in rows}
    for each in names:
        if each not in known:
            raise PersonNotFound(f"No account has the name {each[:64]!r}. Write one name per line.")
    return tuple(known[each] for each in names)
