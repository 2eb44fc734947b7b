"""Signed-in browsers. The only writer of that table."""

from datetime import datetime, timedelta

from sqlalchemy import bindparam, delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.caller import Caller, User
from app.accounts.digest import digest, new_token
from app.accounts.errors import AccountDeactivated, SessionNotFound
from app.accounts.last_use import LastUse
from app.accounts.models import SessionRow, UserRow
from app.accounts.roles import SCOPES
from app.core.clock import now
from app.core.database import Database, UTCDateTime, select_rows
from app.core.ids import new_id
from app.core.prepared_select import PreparedSelect
from app.core.view import View

_USER_AGENT = 300
_EVERYTHING = frozenset(SCOPES)


class SessionView(View):
    id: str
    user_agent: str
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime


# Built once, as in tokens.py.
_user, _session = UserRow.__table__.c, SessionRow.__table__.c
_CALLER = PreparedSelect(
    select(_user.id, _user.name, _user.role, _session.id, _session.authenticated_at, _session.last_used_at)
    .join_from(SessionRow.__table__, UserRow.__table__, _session.user_id == _user.id)
    .where(
        _session.token_hash == bindparam("token_hash"),
        _session.expires_at > bindparam("moment", type_=UTCDateTime),
        _user.deactivated_at.is_(None),
    )
)


class Sessions:
    """Safe to share between requests. Users see and revoke only their own sessions."""

    def __init__(self, database: Database, life: timedelta, uses: LastUse) -> None:
        self._database = database
        self._uses = uses
        self.life = life

    async def open(self, session: AsyncSession, user_id: str, user_agent: str) -> str:
        """Add a session in the caller's transaction, and remove all expired ones. Returns its token.

        Raises:
          AccountDeactivated.
        """
        if await session.scalar(select(UserRow.deactivated_at).where(UserRow.id == user_id)):
            raise AccountDeactivated("Nobody can sign in to it. Ask an owner of this site to reactivate it.")
        token = new_token()
        await session.execute(delete(SessionRow).where(SessionRow.expires_at <= now()))
        session.add(
            SessionRow(
                token_hash=digest(token),
                id=new_id(),
                user_id=user_id,
                user_agent="".join(letter for letter in user_agent if letter.isprintable())[:_USER_AGENT],
                created_at=now(),
                authenticated_at=now(),
                last_used_at=now(),
                expires_at=now() + self.life,
            )
        )
        return token

    async def caller(self, token: str) -> Caller | None:
        """The caller with this session; `None` if it has expired, was revoked or never existed."""
        token_hash = digest(token)
        async with self._database.reading() as session:
            row = (await select_rows(session, _CALLER, {"token_hash": token_hash, "moment": now()})).one_or_none()
        if row is None:
            return None
        user_id, name, role, session_id, authenticated_at, last_used_at = row
        self._uses.note("sessions", token_hash, last_used_at)
        return Caller(User(user_id, name, role), _EVERYTHING, session_id=session_id, authenticated_at=authenticated_at)

    async def authenticated(self, session_id: str) -> None:
        """Record that the user of this session has just proved their identity again."""
        async with self._database.writing() as session:
            await session.execute(update(SessionRow).where(SessionRow.id == session_id).values(authenticated_at=now()))

    async def list(self, user_id: str) -> list[SessionView]:
        """Newest first."""
        async with self._database.reading() as session:
            rows = await session.scalars(
                select(SessionRow)
                .where(SessionRow.user_id == user_id, SessionRow.expires_at > now())
                .order_by(SessionRow.created_at.desc(), SessionRow.id)
            )
            return [SessionView.of(row) for row in rows]

    async def revoke(self, user_id: str, session_id: str) -> None:
        """Raises `SessionNotFound`, even if it exists for another user."""
        if not await self._database.delete_one(SessionRow, session_id, SessionRow.user_id == user_id):
            raise SessionNotFound(f"You have no session with the id {session_id[:64]!r}.")

    async def revoke_others(self, user_id: str, kept_id: str | None) -> None:
        """Revoke all sessions except `kept_id`, or all of them if that is `None`."""
        async with self._database.writing() as session:
            await self.revoke_others_in(session, user_id, kept_id)

    async def revoke_others_in(self, session: AsyncSession, user_id: str, kept_id: str | None) -> None:
        query = delete(SessionRow).where(SessionRow.user_id == user_id)
        await session.execute(query if kept_id is None else query.where(SessionRow.id != kept_id))

    async def close(self, token: str) -> None:
        async with self._database.writing() as session:
            await session.execute(delete(SessionRow).where(SessionRow.token_hash == digest(token)))
