"""Invitations: links that create one account each. The only writer of that table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NoReturn, cast

from sqlalchemy import ColumnElement, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.caller import User
from app.accounts.digest import digest, new_token
from app.accounts.errors import InvitationInvalid, InvitationNotFound, TooManyInvitations
from app.accounts.models import InvitationRow
from app.accounts.roles import ROLES, Role, is_at_least
from app.accounts.text_rules import check_line
from app.core.clock import now
from app.core.database import Database
from app.core.errors import FieldInvalid, RoleMissing
from app.core.ids import new_id
from app.core.view import View

_MOST = 1000
# Several courses with as many people as a roster may have.
_MOST_OF_ROSTERS = 10_000
LONGEST_NOTE = 100
MOST_AT_ONCE = 200
_MOST_DAYS = 90


class Invitation(View):
    id: str
    role: Role
    note: str
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class OpenInvitation:
    """An invitation that is about to be used up in the caller's transaction."""

    id: str
    role: Role


class Invitations:
    """Safe to share between requests. Users see and revoke only their own invitations."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, user: User, role: Role, note: str, expires_in_days: int) -> tuple[str, Invitation]:
        """Create an invitation. Returns its token, which is not stored and cannot be shown again, and its view.

        Raises:
          FieldInvalid: the note is too long, or the lifetime is out of range.
          RoleMissing: the role is above the user's.
          TooManyInvitations.
        """
        note = check_line("note", note, LONGEST_NOTE, empty=True)
        [invitation] = await self._create(user, role, [note], expires_in_days)
        return invitation

    async def create_for_class(
        self, user: User, notes: Sequence[str], expires_in_days: int
    ) -> list[tuple[str, Invitation]]:
        """An invitation for a student for each note, either all of them or none. Returns them in the same order.

        Raises:
          FieldInvalid: no note, too many, one that is empty or too long, or the same one twice.
          RoleMissing, TooManyInvitations.
        """
        if not 1 <= len(notes) <= MOST_AT_ONCE:
            raise FieldInvalid(f"notes: give 1 to {MOST_AT_ONCE} names. You gave {len(notes)}.")
        names = [check_line(f"name {place}", note, LONGEST_NOTE) for place, note in enumerate(notes, 1)]
        for place, note in enumerate(notes):
            if (first := notes.index(note)) < place:
                raise FieldInvalid(f"Names {first + 1} and {place + 1} are both {note!r}. Make each name unique.")
        return await self._create(user, "student", names, expires_in_days)

    async def _create(
        self, user: User, role: Role, notes: Sequence[str], expires_in_days: int
    ) -> list[tuple[str, Invitation]]:
        if not 1 <= expires_in_days <= _MOST_DAYS:
            raise FieldInvalid(f"expires_in_days: choose 1 to {_MOST_DAYS} days.")
        if not is_at_least(user.role, role):
            raise RoleMissing(f"Your role is {user.role}, so you cannot invite someone as {role}.")
        async with self._database.writing() as session:
            return await self._create_in(session, user, role, notes, expires_in_days, lambda _: new_token(), _MOST)

    async def create_for_roster_in(
        self, session: AsyncSession, user: User, notes: Sequence[str], days: int, token_of: Callable[[str], str]
    ) -> list[Invitation]:
        """In the caller's transaction, an invitation for a student for each note, in the same order.

        Args:
          token_of: the token of the invitation with this id.
        Raises:
          TooManyInvitations.
        """
        created = await self._create_in(session, user, "student", notes, days, token_of, _MOST_OF_ROSTERS)
        return [invitation for _, invitation in created]

    async def _create_in(
        self,
        session: AsyncSession,
        user: User,
        role: Role,
        notes: Sequence[str],
        days: int,
        token_of: Callable[[str], str],
        most: int,
    ) -> list[tuple[str, Invitation]]:
        moment = now()
        rows = {}
        for note in notes:
            token = token_of(invitation_id := new_id())
            rows[token] = InvitationRow(
                token_hash=digest(token),
                id=invitation_id,
                user_id=user.id,
                role=role,
                note=note,
                created_at=moment,
                expires_at=moment + timedelta(days=days),
            )
        await session.execute(delete(InvitationRow).where(InvitationRow.expires_at <= moment))
        count = await session.scalar(select(func.count()).where(InvitationRow.user_id == user.id)) or 0
        if count + len(rows) > most:
            raise TooManyInvitations(
                f"You have {count} unused invitations, and the limit is {most}. Revoke some of them."
            )
        session.add_all(rows.values())
        await session.flush()
        return [(token, Invitation.of(row)) for token, row in rows.items()]

    async def extend_in(self, session: AsyncSession, ids: Sequence[str], days: int) -> None:
        """In the caller's transaction, let these invitations be used for so many days from now."""
        changed = update(InvitationRow).where(InvitationRow.id.in_(ids)).values(expires_at=now() + timedelta(days=days))
        await session.execute(changed)

    async def list(self, user_id: str) -> list[Invitation]:
        """The invitations that can still be used, newest first."""
        async with self._database.reading() as session:
            rows = await session.scalars(
                select(InvitationRow)
                .where(InvitationRow.user_id == user_id, InvitationRow.expires_at > now())
                .order_by(InvitationRow.created_at.desc(), InvitationRow.id)
            )
            return [Invitation.of(row) for row in rows]

    async def count_unused(self) -> int:
        """How many invitations of all users can still be used."""
        async with self._database.reading() as session:
            return await session.scalar(select(func.count()).where(InvitationRow.expires_at > now())) or 0

    async def revoke(self, user_id: str, invitation_id: str) -> None:
        """Raises `InvitationNotFound`, even if it exists for another user."""
        if not await self._database.delete_one(InvitationRow, invitation_id, InvitationRow.user_id == user_id):
            raise InvitationNotFound(f"You have no unused invitation with the id {invitation_id[:64]!r}.")

    async def revoke_above_in(self, session: AsyncSession, user_id: str, role: Role | None) -> None:
        """In the caller's transaction, revoke all that someone with this role could not create; with None, all."""
        may = [each for each in ROLES if role is not None and role != "student" and is_at_least(role, each)]
        await session.execute(
            delete(InvitationRow).where(InvitationRow.user_id == user_id, InvitationRow.role.not_in(may))
        )

    async def check(self, token: str) -> None:
        """Raises `InvitationInvalid` if the invitation cannot be used now."""
        async with self._database.reading() as session:
            if await session.scalar(select(InvitationRow.id).where(*_usable(token))) is None:
                _refuse()

    async def take_in(self, session: AsyncSession, token: str) -> OpenInvitation:
        """Lock it in the caller's transaction, which then calls `use_up_in`. Raises `InvitationInvalid`."""
        # If two people use it at once, the second one waits here, and then finds none.
        found = await session.execute(
            select(InvitationRow.id, InvitationRow.role).where(*_usable(token)).with_for_update()
        )
        row = found.one_or_none()
        return OpenInvitation(row[0], cast(Role, row[1])) if row else _refuse()

    async def use_up_in(self, session: AsyncSession, invitation_id: str) -> None:
        await session.execute(delete(InvitationRow).where(InvitationRow.id == invitation_id))


def _usable(token: str) -> tuple[ColumnElement[bool], ...]:
    return InvitationRow.token_hash == digest(token), InvitationRow.expires_at > now()


def _refuse() -> NoReturn:
    raise InvitationInvalid("This invitation was already used, was revoked or has expired. Ask for a new one.")
