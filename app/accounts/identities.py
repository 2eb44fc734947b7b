"""The account that each identity at a provider signs in to. The only writer of that table."""

import re
import secrets
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.caller import User
from app.accounts.errors import IdentityNotFound, LastWayIn
from app.accounts.models import IdentityRow, UserRow
from app.accounts.ranking_names import is_ranking_name
from app.core.clock import now
from app.core.database import Database
from app.core.errors import IdentityTaken
from app.core.ids import is_id, new_id
from app.core.view import View


@dataclass(frozen=True, slots=True)
class Identity:
    """A user's identity at a provider. Only `issuer` and `subject` identify the user; `name` is their name there."""

    issuer: str
    subject: str
    name: str


class IdentityView(View):
    id: str
    issuer: str
    name: str
    created_at: datetime


class Identities:
    """Safe to share between requests.

    An identity is linked only by someone who proves it, never by an e-mail address.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(self, user_id: str) -> list[IdentityView]:
        async with self._database.reading() as session:
            rows = await session.scalars(
                select(IdentityRow)
                .where(IdentityRow.user_id == user_id)
                .order_by(IdentityRow.created_at, IdentityRow.id)
            )
            return [IdentityView.of(row) for row in rows]

    async def link(self, user: User, identity: Identity) -> None:
        """Let `identity` sign in to the user's account. Raises `IdentityTaken`."""
        try:
            async with self._database.writing() as session:
                row = await find(session, identity)
                if row is None:
                    session.add(new_row(user.id, identity))
        except IntegrityError:  # another request linked it at the same moment
            async with self._database.reading() as session:
                row = await find(session, identity)
        if row is not None and row.user_id != user.id:
            raise IdentityTaken("Another account already signs in with it. Remove it from that account first.")

    async def remove(self, user: User, identity_id: str) -> None:
        """Raises `IdentityNotFound`, even if it exists for another user, and `LastWayIn`."""
        async with self._database.writing() as session:
            own = list(await session.scalars(select(IdentityRow).where(IdentityRow.user_id == user.id)))
            if not is_id(identity_id) or identity_id not in {row.id for row in own}:
                raise IdentityNotFound(f"Your account has no sign-in with the id {identity_id[:64]!r}.")
            password_hash = await session.scalar(select(UserRow.password_hash).where(UserRow.id == user.id))
            if len(own) == 1 and password_hash is None:
                raise LastWayIn("You have no password and no other sign-in. Set a password first.")
            await session.execute(delete(IdentityRow).where(IdentityRow.id == identity_id))


async def find(session: AsyncSession, identity: Identity) -> IdentityRow | None:
    return await session.get(IdentityRow, (identity.issuer, identity.subject))


def new_row(user_id: str, identity: Identity) -> IdentityRow:
    return IdentityRow(
        issuer=identity.issuer,
        subject=identity.subject,
        id=new_id(),
        user_id=user_id,
        name=identity.name,
        created_at=now(),
    )


async def free_name(session: AsyncSession, preferred: str) -> str:
    """A permitted name that nobody has, as close to the preferred one as possible."""
    base = re.sub(r"[^a-z0-9._-]+", "-", preferred.lower()).strip("-._")[:30]
    base = base if len(base) >= 2 else "student"
    taken = await session.scalar(select(UserRow.id).where(UserRow.name == base))
    return base if taken is None and not await is_ranking_name(session, base) else f"{base}-{secrets.token_hex(4)}"
