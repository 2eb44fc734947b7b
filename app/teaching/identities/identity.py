"""Who a person really is, by the rosters of their courses. Only staff see it."""

from collections.abc import Collection
from typing import Protocol

from sqlalchemy import ColumnElement

from app.core.view import View


class RosterIdentity(View):
    """What a roster or a learning platform says of a person. An empty text is unknown."""

    name: str = ""
    given_name: str = ""
    family_name: str = ""
    email: str = ""
    student_number: str = ""
    login: str = ""
    external_id: str = ""
    section: str = ""

    @property
    def known(self) -> dict[str, str]:
        return {name: value for name, value in self.model_dump().items() if value}

    @property
    def words(self) -> str:
        """For a list of people, beside the name of the account."""
        return " · ".join(filter(None, (self.name, self.details)))

    @property
    def details(self) -> str:
        """The same, for a list that has the real name in another place."""
        return " · ".join(filter(None, (self.student_number, self.email, self.section)))


class RosterIdentities(Protocol):
    """What the rosters of courses say: app/teaching/courses/roster_lines.py."""

    async def of_people(self, people: Collection[str]) -> dict[str, RosterIdentity]:
        """By the id of the account, from the newest line of each person in any course, for instructors and owners."""
        ...

    async def of_course(self, course_id: str, people: Collection[str] | None = None) -> dict[str, RosterIdentity]:
        """By the id of the account, for these people or for all in the course, for its staff."""
        ...

    def is_known_as(self, part: str) -> ColumnElement[bool]:
        """The condition that a line of an account has this text in its name, address or number."""
        ...
