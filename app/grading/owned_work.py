"""Work for the judge that belongs to someone: who finds it, how much of it may be unfinished, and when it is deleted.

`OwnedWork` is what every kind has in common. `UsersWork` adds what holds for work that users and guests send, and
`UsersJobs` what holds if deleting a row stops the work. A kind is a subclass with its table, its view and its words:
app/learning/lessons/runs.py is a small one. Its table says which rows are deleted after a day.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property, partial
from typing import Generic, Self, TypeVar

from sqlalchemy import ColumnElement, Select, String, bindparam, delete, event, func, inspect, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.caller import GUEST_ID, User
from app.core.background_loop import Loop
from app.core.clock import now
from app.core.database import Database, select_rows
from app.core.errors import NotSignedIn, Refused
from app.core.ids import is_id, new_id
from app.core.prepared_select import PreparedSelect
from app.core.rest.paging import Cursor, Page, paged
from app.core.settings import Settings
from app.grading.guests import admit_guest, share_of
from app.grading.queue.events import Change, WorkEvents
from app.grading.queue.fair_share import close_up, forget_shares, work_tables
from app.grading.queue.models import IS_WAITING, OwnedRow, WorkRow
from app.grading.queue.protocol import Enqueue

_STORED_FOR = timedelta(days=1)
_NO_SYNC = {"synchronize_session": False}
_BROWSER = bindparam("browser", type_=String())

Owner = TypeVar("Owner")
Row = TypeVar("Row", bound=WorkRow)
SentRow = TypeVar("SentRow", bound=OwnedRow)
Shown = TypeVar("Shown")
T = TypeVar("T")


class OwnedWork(ABC, Generic[Owner, Row]):
    """All work of one kind. Each owner finds only their own; other work is not found. Safe to share between requests.

    Args:
      enqueue: the queue's.
    """

    rows: type[Row]

    def __init__(self, database: Database, enqueue: Enqueue) -> None:
        self._database = database
        self._enqueue = enqueue

    @abstractmethod
    def owned_by(self, owner: Owner) -> Sequence[ColumnElement[bool]]:
        """The conditions on the rows that belong to this owner."""

    @abstractmethod
    def missing(self, owner: Owner | None, work_id: str) -> Refused:
        """The error if the owner has no work with this id."""

    def _query(self) -> Select[Row]:
        """Selects the rows that can be found, with all columns that are shown."""
        return select(self.rows)

    async def _find(self, session: AsyncSession, owner: Owner | None, work_id: str) -> Row:
        row = None
        if owner is not None and is_id(work_id):
            row = await session.scalar(self._query().where(self.rows.id == work_id, *self.owned_by(owner)))
        if row is None:
            raise self.missing(owner, work_id[:64])
        return row

    async def _page(
        self,
        session: AsyncSession,
        owner: Owner,
        cursor: Cursor,
        read: Callable[[Row], T],
        only: Sequence[ColumnElement[bool]] = (),
    ) -> Page[T]:
        """The owner's work, newest first. Raises `missing` for the cursor."""
        query, by = self._query().where(*self.owned_by(owner)), (self.rows.created_at, self.rows.id)
        return await paged(session, query, by, cursor, read, only=only, missing=lambda each: self.missing(owner, each))


@dataclass(frozen=True, slots=True)
class WorkLimits:
    """`max_waiting_per_user` is for attempts and runs together. Without the last two, guests may send nothing."""

    max_source_bytes: int
    max_waiting_per_user: int = 20
    guest_runs_per_address: int = 0
    guest_runs_in_total: int = 0

    @classmethod
    def of(cls, settings: Settings) -> Self:
        return cls(**{each: getattr(settings, each) for each in cls.__slots__})


class UsersWork(OwnedWork[User, SentRow]):
    """Work of one kind that belongs to the user who sent it, or to the browser from which a guest sent it.

    A subclass has these attributes:
      most_unfinished: how much of one user's may wait or run at once.
      too_many: the error if a user has as much. `too_many_because` is its message.
      unknown_here: what anyone without an account reads about an id that their browser has not sent.
    """

    most_unfinished: int
    too_many: type[Refused]
    unknown_here: str

    def __init__(self, database: Database, limits: WorkLimits, enqueue: Enqueue) -> None:
        super().__init__(database, enqueue)
        self._limits = limits

    @abstractmethod
    def not_found(self, work_id: str) -> Refused:
        """The error if a user has no work with this id."""

    @abstractmethod
    def too_many_because(self, user: User, unfinished: int) -> str: ...

    def missing(self, owner: User | None, work_id: str) -> Refused:
        if owner is None or owner.guest is not None:
            # It may be a user who has signed out.
            return NotSignedIn(self.unknown_here)
        return self.not_found(work_id)

    def owned_by(self, owner: User) -> Sequence[ColumnElement[bool]]:
        return self.rows.user_id == owner.id, self.rows.guest.is_not_distinct_from(browser_of(owner))

    async def _find(self, session: AsyncSession, owner: User | None, work_id: str) -> SentRow:
        # As for any kind of work, with a statement that is prepared. The row does not belong to the session, so it is
        # only for reading, and none of the session's bookkeeping is needed for it.
        found = None
        if owner is not None and is_id(work_id):
            found = (await select_rows(session, self._owned, {"work_id": work_id, **_who(owner)})).first()
        if found is None:
            raise self.missing(owner, work_id[:64])
        return self.rows(**found._mapping)

    @cached_property
    def _owned(self) -> PreparedSelect:
        rows = self.rows
        columns = [getattr(rows, each.key).label(each.key) for each in inspect(rows).column_attrs]
        is_theirs = (rows.user_id == bindparam("user_id"), rows.guest.is_not_distinct_from(_BROWSER))
        query = self._query().where(rows.id == bindparam("work_id"), *is_theirs)
        return PreparedSelect(query.with_only_columns(*columns))

    def competing(self) -> Sequence[ColumnElement[bool]]:
        """The conditions on the rows that count towards `most_unfinished`, with the values of `_who`."""
        rows = self.rows
        return rows.user_id == bindparam("user_id"), rows.guest.is_not_distinct_from(_BROWSER)

    @cached_property
    def _unfinished(self) -> PreparedSelect:
        return PreparedSelect(select(func.count()).select_from(self.rows).where(*self.competing(), IS_WAITING))

    def _new(self, user: User, work_id: str | None = None, **columns: object) -> SentRow:
        """A row that this user sends now. It is not stored yet. Without `work_id`, it gets a new one."""
        sent: dict[str, object] = {"id": work_id or new_id(), "created_at": now()}
        own = {"user_id": user.id, "share": share_of(user), "guest": browser_of(user)}
        return self.rows(**sent, **own, **columns)

    async def _admit(self, session: AsyncSession, user: User, *, is_counted: bool = True) -> None:
        """Refuse a user who has too much unfinished work. With `is_counted`, the limits on guests count this work, too.

        Raises:
          `too_many`.
          TooManyGuestRuns.
        """
        unfinished: int = (await select_rows(session, self._unfinished, _who(user))).scalar_one()
        if unfinished >= self.most_unfinished:
            raise self.too_many(self.too_many_because(user, unfinished), headers={"Retry-After": "5"})
        if user.guest is not None and is_counted:
            per_address, in_total = self._limits.guest_runs_per_address, self._limits.guest_runs_in_total
            await admit_guest(session, user.guest, per_address=per_address, in_total=in_total)


class UsersJobs(UsersWork[SentRow], Generic[SentRow, Shown]):
    """Work of users and guests that nothing is stored about except its row: without the row, it is stopped."""

    def __init__(self, database: Database, limits: WorkLimits, enqueue: Enqueue, events: WorkEvents) -> None:
        super().__init__(database, limits, enqueue)
        self.events = events

    @abstractmethod
    def view(self, row: SentRow) -> Shown:
        """The work as its owner sees it."""

    async def get(self, owner: User | None, work_id: str) -> Shown:
        """Raises `missing`, even if it exists and belongs to someone else."""
        async with self._database.reading() as session:
            return self.view(await self._find(session, owner, work_id))

    async def remove(self, user: User, work_id: str) -> Shown:
        """Delete it, and return what it was. If it is queued or running, it is stopped. Raises `missing`."""
        async with self._database.writing() as session:
            row = await self._find(session, user, work_id)
            found = self.view(row)
            await session.execute(delete(self.rows).where(self.rows.id == row.id).execution_options(**_NO_SYNC))
            await close_up(session, row)
            self._announce(session, [row.id])
        return found

    async def _replace(self, session: AsyncSession, user: User, row: SentRow, *which: ColumnElement[bool]) -> bool:
        """Delete those of the user's rows for which `row` comes. Returns whether one of them was still waiting."""
        drop = delete(self.rows).where(*which, *self.owned_by(user)).returning(self.rows.id, self.rows.status)
        dropped = (await session.execute(drop.execution_options(**_NO_SYNC))).all()
        waited = any(status == "queued" for _, status in dropped)
        if waited:
            await close_up(session, row)
        self._announce(session, [work_id for work_id, _ in dropped])
        return waited

    def _announce(self, session: AsyncSession, deleted: Sequence[str]) -> None:
        """Notify everyone who waits for this work, once the transaction that deletes it is committed."""
        for each in deleted:
            send = partial(self.events.send, each, Change("cancelled", None))
            event.listen(session.sync_session, "after_commit", lambda _, send=send: send(), once=True)


def browser_of(user: User | None) -> str | None:
    """The browser of a guest; None for a user."""
    return user.guest.browser if user and user.guest else None


def _who(user: User) -> dict[str, str | None]:
    """The values of statements that are built once."""
    return {"user_id": user.id, "browser": browser_of(user), "share": share_of(user)}


def is_owned_by(row: OwnedRow, user: User | None) -> bool:
    return user is not None and (row.user_id, row.guest) == (user.id, browser_of(user))


def forgetting(database: Database) -> Loop:
    """Deletes, every hour, all work that is stored for a day only, and the shares of guests' networks."""

    async def forget() -> None:
        for rows in work_tables():
            if issubclass(rows, OwnedRow):
                old = rows.created_at < now() - _STORED_FOR
                async with database.writing() as session:
                    drop = delete(rows).where(old, rows.is_forgettable(GUEST_ID))
                    await session.execute(drop.execution_options(**_NO_SYNC))
        await forget_networks(database)

    return Loop("deleting what guests left behind", forget, pause_s=3600.0)


async def forget_networks(database: Database) -> None:
    async with database.writing() as session:
        await forget_shares(session, GUEST_ID)
