"""People, and the secrets that stand for them: sessions, sign-in links, API tokens. The only writer of those tables."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, cast

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import APITokenRow, SessionRow, SignInLinkRow, UserRow
from app.clock import now
from app.database import Database
from app.errors import SignInLinkInvalid, TokenInvalid

Role = Literal["owner", "student"]


@dataclass(frozen=True, slots=True)
class User:
    id: str
    name: str
    role: Role


class Accounts:
    """Safe to share between requests."""

    def __init__(self, database: Database, *, session_life: timedelta, link_life: timedelta) -> None:
        self._database = database
        self.session_life = session_life
        self._link_life = link_life

    async def ensure_owner(self) -> User:
        """The owner, created on an empty database."""
        async with self._database.writing() as session:
            row = await session.scalar(select(UserRow).where(UserRow.role == "owner").order_by(UserRow.created_at))
            return _user(row or _new_user(session, "owner", "owner"))

    async def add_user(self, name: str, role: Role) -> User:
        async with self._database.writing() as session:
            return _user(_new_user(session, name, role))

    async def preset_token(self, user: User, token: str | None) -> None:
        """Make `token` the user's preset one; an earlier preset, or all of them for `None`, stops working."""
        async with self._database.writing() as session:
            await session.execute(delete(APITokenRow).where(APITokenRow.user_id == user.id, APITokenRow.preset))
            if token is not None:
                await session.merge(
                    APITokenRow(token_hash=_digest(token), user_id=user.id, preset=True, created_at=now())
                )

    async def new_sign_in_link(self, user: User) -> str:
        """A token that signs one browser in, once; the user's earlier links stop working."""
        token = secrets.token_urlsafe(32)
        async with self._database.writing() as session:
            await session.execute(delete(SignInLinkRow).where(SignInLinkRow.user_id == user.id))
            session.add(
                SignInLinkRow(
                    token_hash=_digest(token), user_id=user.id, created_at=now(), expires_at=now() + self._link_life
                )
            )
        return token

    async def sign_in(self, link_token: str) -> str:
        """Use up a sign-in link.

        Returns:
          the token of a new session.
        Raises:
          SignInLinkInvalid: the link was used before, has expired or never was.
        """
        async with self._database.writing() as session:
            # One statement finds and uses up the link, so that of two browsers that open it at once one is refused.
            user_id = await session.scalar(
                delete(SignInLinkRow)
                .where(SignInLinkRow.token_hash == _digest(link_token), SignInLinkRow.expires_at > now())
                .returning(SignInLinkRow.user_id)
            )
            if user_id is None:
                raise SignInLinkInvalid(
                    "This sign-in link was used before or has expired. Start the server again: it prints a new one."
                )
            return await self._open_session(session, user_id)

    async def sign_out(self, session_token: str) -> None:
        async with self._database.writing() as session:
            await session.execute(delete(SessionRow).where(SessionRow.token_hash == _digest(session_token)))

    async def user_of_session(self, session_token: str) -> User | None:
        """Whose browser this is; `None` for a session that expired, was revoked or never was."""
        async with self._database.reading() as session:
            row = await session.scalar(
                select(UserRow)
                .join(SessionRow, SessionRow.user_id == UserRow.id)
                .where(SessionRow.token_hash == _digest(session_token), SessionRow.expires_at > now())
            )
        return None if row is None else _user(row)

    async def user_of_token(self, token: str) -> User:
        """Whose API token this is. Raises `TokenInvalid`."""
        async with self._database.reading() as session:
            row = await session.scalar(
                select(UserRow)
                .join(APITokenRow, APITokenRow.user_id == UserRow.id)
                .where(APITokenRow.token_hash == _digest(token))
            )
        if row is None:
            raise TokenInvalid(
                "The bearer token in the Authorization header is unknown or was revoked.",
                headers={"WWW-Authenticate": 'Bearer error="invalid_token"'},
            )
        return _user(row)

    async def _open_session(self, session: AsyncSession, user_id: str) -> str:
        token = secrets.token_urlsafe(32)
        await session.execute(delete(SessionRow).where(SessionRow.expires_at <= now()))
        session.add(
            SessionRow(
                token_hash=_digest(token), user_id=user_id, created_at=now(), expires_at=now() + self.session_life
            )
        )
        return token


def _new_user(session: AsyncSession, name: str, role: Role) -> UserRow:
    row = UserRow(id=secrets.token_hex(16), name=name, role=role, created_at=now())
    session.add(row)
    return row


def _digest(token: str) -> str:
    # No salt, no slow hash: tokens hold 256 bits of chance (a preset one is the operator's choice), and are looked up.
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _user(row: UserRow) -> User:
    return User(id=row.id, name=row.name, role=cast(Role, row.role))
