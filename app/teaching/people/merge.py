"""Merges two accounts of one person.

An owner does it, and nothing undoes it. Every table with a `user_id` or `whom_id` is moved, so that a new one cannot be
forgotten. If both accounts have a row that can exist only once, such as a draft of one problem, that of the remaining
account stays. Whatever gives access to the other account ends: sessions, links, API tokens and invitations.
"""

from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import (
    Column,
    ColumnElement,
    Index,
    Table,
    UniqueConstraint,
    and_,
    delete,
    exists,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit.log import check_reason, record
from app.accounts.caller import GUEST_ID, Caller
from app.accounts.last_owner import require_another_owner
from app.accounts.models import UserRow
from app.accounts.recent_sign_in import RecentSignIn
from app.accounts.roles import Role, is_at_least
from app.core.database import Database
from app.core.errors import MergeRefused, OwnAccount, PersonNotFound
from app.core.ids import is_id
from app.grading.queue.models import AttemptRow
from app.operations.personal_data.export import owned_tables
from app.teaching.people.directory import no_person

_LAST = "This is the only owner who can sign in. Make another account an owner first."
# They end with the account. The audit log never changes; its rows only lose the name.
_ENDING = frozenset({"sessions", "sign_in_links", "api_tokens", "invitations"})
_UNTOUCHED = frozenset({"audit_log"})
_WORDS = {
    "attempts": "attempts and runs",
    "identities": "ways to sign in with a provider or a learning platform",
    "course_members": "courses",
    "course_staff": "courses that they teach",
    "roster_lines": "entries in rosters",
    "api_tokens": "API tokens",
    "lti_scores": "scores for learning platforms",
    "give_ups": "problems given up",
    "cell_marks": "points and excuses by hand",
}


@dataclass(frozen=True, slots=True)
class Part:
    """Rows of one table. `moving` become those of the other account, and `dropped` are deleted."""

    table: str
    moving: int
    dropped: int

    @property
    def words(self) -> str:
        return _WORDS.get(self.table, self.table.replace("_", " "))


@dataclass(frozen=True, slots=True)
class MergePreview:
    """`loses_role` says that the account that ends has the higher role, which ends with it."""

    gone: UserRow
    rest: UserRow
    parts: tuple[Part, ...]

    @property
    def loses_role(self) -> bool:
        return is_at_least(cast(Role, self.gone.role), cast(Role, self.rest.role)) and self.gone.role != self.rest.role


class Merging:
    """Safe to share between requests. The routes check that the caller is an owner."""

    def __init__(self, database: Database, recent: RecentSignIn) -> None:
        self._database = database
        self._recent = recent

    async def preview(self, caller: Caller, gone_id: str, rest_name: str) -> MergePreview:
        """What would happen. Raises `PersonNotFound`, `OwnAccount` and `MergeRefused`."""
        async with self._database.reading() as session:
            gone, rest = await _both(session, caller, gone_id, rest_name)
            parts = [await _count(session, table, gone.id, rest.id) for table in owned_tables()]
        return MergePreview(gone, rest, tuple(each for each in parts if each.moving or each.dropped))

    async def merge(self, caller: Caller, gone_id: str, rest_name: str, reason: str, *, confirmed: bool) -> str:
        """Returns the id of the account that remains.

        Raises:
          SessionNeeded, SignInAgain, FieldInvalid, PersonNotFound, OwnAccount.
          MergeRefused: the same account twice, or a higher role would end and `confirmed` is false.
          LastOwner: no other owner could sign in.
        """
        self._recent.require(caller)
        reason = check_reason(reason)
        async with self._database.writing() as session:
            await require_another_owner(session, gone_id, _LAST, lock=True)
            gone, rest = await _both(session, caller, gone_id, rest_name, lock=True)
            if MergePreview(gone, rest, ()).loses_role and not confirmed:
                raise MergeRefused(
                    f"{gone.name} has the role {gone.role}, and {rest.name} has {rest.role}, which stays. Confirm that "
                    f"the higher role is lost, or merge in the other direction."
                )
            # An idempotency key counts once for each account.
            attempts = update(AttemptRow).where(AttemptRow.user_id == gone.id)
            await session.execute(attempts.values(idempotency_key=None).execution_options(synchronize_session=False))
            for table in owned_tables():
                if table.name not in _ENDING | _UNTOUCHED:
                    await _move(session, table, gone.id, rest.id)
            record(session, caller.user, "merged", rest.id, reason, f"{gone.name} into {rest.name}")
            await session.flush()
            await session.execute(delete(UserRow).where(UserRow.id == gone.id))
        return rest.id


async def _both(
    session: AsyncSession, caller: Caller, gone_id: str, rest_name: str, *, lock: bool = False
) -> tuple[UserRow, UserRow]:
    gone = await session.get(UserRow, gone_id, with_for_update=lock) if is_id(gone_id) else None
    if gone is None or gone.id == GUEST_ID:
        raise no_person(gone_id)
    query = select(UserRow).where(UserRow.name == rest_name.strip().lower().replace("\0", ""), UserRow.id != GUEST_ID)
    rest = await session.scalar(query.with_for_update() if lock else query)
    if rest is None:
        raise PersonNotFound(f"There is no account {rest_name[:40]!r}. Write the name as the page People shows it.")
    if gone.id == rest.id:
        raise MergeRefused("An account cannot be merged into itself. Name the other account.")
    if gone.id == caller.user.id:
        raise OwnAccount(
            "You are signed in with the account that would be deleted. Merge the other account into it instead."
        )
    return gone, rest


def _twice(table: Table, gone_id: str, rest_id: str) -> list[ColumnElement[bool]]:
    """For each key that the person is a part of: the rows of `gone` that would meet one of `rest`."""
    other = table.alias("other")
    conditions = []
    for person in _columns(table):
        for columns in _keys(table, person.name):
            same = [table.c[name] == other.c[name] for name in columns]
            conditions.append(and_(person == gone_id, exists().where(other.c[person.name] == rest_id, *same)))
    return conditions


def _keys(table: Table, person: str) -> list[list[str]]:
    """The other columns of each key with this one."""
    keys: list[Any] = [table.primary_key]
    keys += [each for each in table.constraints if isinstance(each, UniqueConstraint)]
    keys += [each for each in table.indexes if isinstance(each, Index) and each.unique]
    names = [[column.name for column in key.columns] for key in keys]
    return [[name for name in key if name != person] for key in names if person in key]


async def _count(session: AsyncSession, table: Table, gone_id: str, rest_id: str) -> Part:
    if table.name in _UNTOUCHED:
        return Part(table.name, 0, 0)
    is_theirs = or_(*(column == gone_id for column in _columns(table)))
    total = await session.scalar(select(func.count()).select_from(table).where(is_theirs)) or 0
    if table.name in _ENDING:
        return Part(table.name, 0, total)
    dropped = 0
    if table.name != AttemptRow.__tablename__:
        for each in _twice(table, gone_id, rest_id):
            dropped += await session.scalar(select(func.count()).select_from(table).where(each)) or 0
    return Part(table.name, total - dropped, dropped)


async def _move(session: AsyncSession, table: Table, gone_id: str, rest_id: str) -> None:
    for each in _twice(table, gone_id, rest_id):
        await session.execute(delete(table).where(each))
    for column in _columns(table):
        await session.execute(update(table).where(column == gone_id).values({column.name: rest_id}))


def _columns(table: Table) -> list[Column[Any]]:
    """Whose row it is, and whom it is about: a comment belongs to its author, and is about a student."""
    return [table.c[name] for name in ("user_id", "whom_id") if name in table.c]
