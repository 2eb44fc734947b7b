"""Erases a person at their request, as an owner: the account and everything that belongs to it.

An owner is erased only once two other owners have asked for it within a week, so that nobody takes the service over
alone. The audit log is where the first of them is remembered. It keeps that somebody was erased, and not who.
"""

from datetime import datetime, timedelta
from typing import Literal

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit.log import check_reason, record
from app.accounts.audit.models import AuditRow
from app.accounts.caller import GUEST_ID, Caller, User, user_of
from app.accounts.errors import NameDiffers
from app.accounts.models import UserRow
from app.accounts.service import Accounts
from app.core.clock import now
from app.core.database import Database
from app.core.errors import OwnAccount
from app.core.ids import is_id
from app.core.view import View
from app.grading.queue.protocol import GradeQueue
from app.operations.personal_data.deletion import delete_account
from app.teaching.people.directory import no_person

# How long the first of two owners waits for the second.
REQUEST_LIFE = timedelta(days=7)
_LAST = "This is the only owner who can sign in. Make another account an owner first."


class ErasureJSON(View):
    """`status` is `erased`, or `requested` if another owner has to ask for it, too, until `expires_at`."""

    status: Literal["erased", "requested"]
    expires_at: datetime | None = None


class Erasure:
    """Safe to share between requests. The caller of each method must be an owner, which the routes check."""

    def __init__(self, database: Database, accounts: Accounts, queue: GradeQueue) -> None:
        self._database, self._accounts, self._queue = database, accounts, queue

    async def erase(self, caller: Caller, person_id: str, name: str, reason: str) -> ErasureJSON:
        """Erase a person, or ask for the erasure of an owner.

        Args:
          name: that of the person, to confirm.
        Raises:
          SessionNeeded, SignInAgain, FieldInvalid, PersonNotFound, NameDiffers, OwnAccount.
          LastOwner: no other owner could sign in.
        """
        self._accounts.recent.require(caller)
        reason = check_reason(reason)
        if person_id == caller.user.id:
            raise OwnAccount("Delete your own account on the page Account.")
        async with self._database.writing() as session:
            person = await _find(session, person_id)
            if name != person.name:
                raise NameDiffers("`name` must be the name of this account. Nothing was erased.")
            if person.role == "owner":
                requests = await _requests(session, person_id)
                if all(owner.id == caller.user.id for _, owner in requests):
                    if not requests:
                        record(session, caller.user, "erasure-requested", person_id, reason)
                    at = requests[0][0] if requests else now()
                    return ErasureJSON(status="requested", expires_at=at + REQUEST_LIFE)
        await erase(self._database, self._queue, person, caller.user, reason)
        return ErasureJSON(status="erased")

    async def requested_by(self, person_id: str) -> User | None:
        """The owner who asked first to erase this owner, if a second one has not asked yet."""
        async with self._database.reading() as session:
            return next((owner for _, owner in await _requests(session, person_id)), None)

    async def record_export(self, caller: Caller, person_id: str) -> User:
        """Note in the audit log that the caller exports all data about the person. Raises `PersonNotFound`."""
        async with self._database.writing() as session:
            person = await _find(session, person_id)
            record(session, caller.user, "exported", person.id, "")
        return person


async def erase(database: Database, queue: GradeQueue, person: User, actor: User | None, reason: str) -> None:
    """Erase the person; without an `actor`, because of the operator's rule. Raises `LastOwner`."""
    action: Literal["erased", "erased-by-rule"] = "erased" if actor else "erased-by-rule"

    def note(session: AsyncSession) -> None:
        record(session, actor, action, person.id, reason, person.role)

    await delete_account(database, queue, person, record=note, last_owner=_LAST)


async def _requests(session: AsyncSession, person_id: str) -> list[tuple[datetime, User]]:
    """When who asked for the erasure of this owner, newest first. Those who are no longer owners do not count."""
    query = (
        select(AuditRow.at, UserRow)
        .join(UserRow, UserRow.id == AuditRow.user_id)
        .where(AuditRow.whom_id == person_id, AuditRow.action == "erasure-requested")
        .where(AuditRow.at > now() - REQUEST_LIFE, UserRow.role == "owner", UserRow.deactivated_at.is_(None))
        .order_by(AuditRow.at.desc())
    )
    return [(at, user_of(row)) for at, row in await session.execute(query)]


async def _find(session: AsyncSession, person_id: str) -> User:
    row = await session.get(UserRow, person_id) if is_id(person_id) and person_id != GUEST_ID else None
    if row is None:
        raise no_person(person_id)
    return user_of(row)
