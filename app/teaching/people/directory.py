"""The list of accounts: searched, filtered and read page by page."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal, get_args
from urllib.parse import urlencode

from sqlalchemy import ColumnElement, ScalarSelect, func, or_, select

from app.accounts.caller import GUEST_ID
from app.accounts.models import APITokenRow, SessionRow, UserRow
from app.accounts.roles import ROLES, Role
from app.core.database import Database
from app.core.errors import PersonNotFound
from app.core.ids import is_id
from app.core.rest.paging import Cursor, Page, paged
from app.core.view import View
from app.core.web.choices import one_of
from app.grading.queue.models import AttemptRow
from app.teaching.identities.identity import RosterIdentities, RosterIdentity

State = Literal["active", "deactivated"]
STATES: tuple[State, ...] = get_args(State)
_LONGEST = 100


class Person(View):
    """`deactivated_at` is null for an active account. `last_active_at` may lag by a few minutes.

    `identity` is what the rosters of courses say; null if nothing.
    """

    id: str
    name: str
    role: Role
    created_at: datetime
    deactivated_at: datetime | None
    last_active_at: datetime | None
    identity: RosterIdentity | None = None

    @property
    def state(self) -> State:
        return "deactivated" if self.deactivated_at else "active"


@dataclass(frozen=True, slots=True)
class PeopleFilter:
    """An empty value matches everyone. A person must match every value. `q` is a part of the name, or
    of the name, address or number in a roster.
    """

    q: str = ""
    role: str = ""
    state: str = ""

    @classmethod
    def read(cls, query: Mapping[str, str]) -> "PeopleFilter":
        """From the parameters of an address. A value that the page does not offer is dropped."""
        role, state = query.get("role", ""), query.get("state", "")
        return cls(
            q=query.get("q", "").strip()[:_LONGEST].replace("\0", ""),
            role=one_of(role, ROLES),
            state=one_of(state, STATES),
        )

    @property
    def is_empty(self) -> bool:
        return self == EVERYBODY

    def address(self, **more: str) -> str:
        """The address of the list with this filter, and with `more` parameters."""
        query = urlencode({name: value for name, value in (asdict(self) | more).items() if value})
        return f"/people?{query}" if query else "/people"

    def conditions(self, identities: RosterIdentities) -> list[ColumnElement[bool]]:
        found: list[ColumnElement[bool]] = [UserRow.id != GUEST_ID]
        if self.q:
            part = self.q.encode(errors="replace").decode()
            found.append(or_(UserRow.name.contains(part.lower(), autoescape=True), identities.is_known_as(part)))
        if self.role:
            found.append(UserRow.role == self.role)
        if self.state:
            is_active = UserRow.deactivated_at.is_(None)
            found.append(is_active if self.state == "active" else ~is_active)
        return found


EVERYBODY = PeopleFilter()


def _latest(column: Any, user_id: Any) -> ScalarSelect[Any]:
    return select(func.max(column)).where(user_id == UserRow.id).correlate(UserRow).scalar_subquery()


# Each maximum is one step along an index, for the rows of one page only.
_PEOPLE = select(
    UserRow,
    _latest(SessionRow.last_used_at, SessionRow.user_id),
    _latest(APITokenRow.last_used_at, APITokenRow.user_id),
    _latest(AttemptRow.created_at, AttemptRow.user_id),
)


class Directory:
    """Safe to share between requests."""

    def __init__(self, database: Database, identities: RosterIdentities) -> None:
        self._database = database
        self._identities = identities

    async def list(self, only: PeopleFilter, cursor: Cursor) -> Page[Person]:
        """By name."""
        conditions = only.conditions(self._identities)
        async with self._database.reading() as session:
            people = await paged(session, _PEOPLE, (UserRow.name,), cursor, _person, only=conditions)
        known = await self._identities.of_people([each.id for each in people])
        return people.map(lambda each: each.model_copy(update={"identity": known.get(each.id)}))

    async def count(self, only: PeopleFilter) -> int:
        query = select(func.count()).select_from(UserRow).where(*only.conditions(self._identities))
        async with self._database.reading() as session:
            return await session.scalar(query) or 0

    async def get(self, person_id: str) -> Person:
        """Raises `PersonNotFound`."""
        async with self._database.reading() as session:
            query = _PEOPLE.where(UserRow.id == person_id, UserRow.id != GUEST_ID)
            row = (await session.execute(query)).one_or_none() if is_id(person_id) else None
        if row is None:
            raise no_person(person_id)
        known = await self._identities.of_people([person_id])
        return _person(*row).model_copy(update={"identity": known.get(person_id)})


def no_person(person_id: str) -> PersonNotFound:
    return PersonNotFound(f"There is no account with the id {person_id[:64]!r}. It may have been deleted.")


def _person(row: UserRow, *latest: datetime | None) -> Person:
    return Person.read_from(row, last_active_at=max((each for each in latest if each is not None), default=None))
