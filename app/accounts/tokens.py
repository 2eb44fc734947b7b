"""API tokens: named, with scopes, shown once. The only writer of that table."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import cast

from sqlalchemy import BindParameter, ColumnElement, bindparam, delete, func, or_, select

from app.accounts.caller import Caller, User
from app.accounts.digest import digest, new_token
from app.accounts.errors import ScopeMissing, TokenNotFound, TooManyTokens
from app.accounts.last_use import LastUse
from app.accounts.models import APITokenRow, UserRow
from app.accounts.roles import SCOPES, Scope
from app.accounts.text_rules import check_line
from app.core.clock import now
from app.core.database import Database, UTCDateTime, select_rows
from app.core.errors import FieldInvalid, TokenInvalid
from app.core.ids import new_id
from app.core.prepared_select import PreparedSelect
from app.core.view import View

_MOST = 50
_LONGEST_NAME = 100
_MOST_DAYS = 366


class Token(View):
    """`preset` is true if it came from MESHGRADE_OWNER_TOKEN. `last_used_at` may lag by a few minutes."""

    id: str
    name: str
    scopes: tuple[Scope, ...]
    preset: bool
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime | None


class Tokens:
    """Safe to share between requests. Users see and revoke only their own tokens."""

    def __init__(self, database: Database, uses: LastUse) -> None:
        self._database = database
        self._uses = uses

    async def preset(self, user: User, token: str | None) -> None:
        """Make `token` the user's preset one. An earlier preset token stops working, and with `None` all of them."""
        async with self._database.writing() as session:
            presets = select(APITokenRow).where(APITokenRow.user_id == user.id, APITokenRow.preset)
            for row in await session.scalars(presets):
                if token is None or row.token_hash != digest(token):
                    await session.delete(row)
            if token is not None:
                fresh = _row(token, user.id, "preset", SCOPES, None, preset=True)
                same = await session.get(APITokenRow, digest(token))
                if same is not None:
                    fresh.id, fresh.created_at, fresh.last_used_at = same.id, same.created_at, same.last_used_at
                await session.merge(fresh)

    async def create(
        self, caller: Caller, name: str, scopes: Iterable[Scope], expires_in_days: int | None
    ) -> tuple[str, Token]:
        """Create a token. Returns its value, which is not stored and cannot be shown again, and its view.

        Raises:
          FieldInvalid: the name is empty or too long, there is no scope, or one that the caller's role does not allow,
            or the lifetime is out of range.
          ScopeMissing: the caller's own token lacks one of the scopes, or would expire before the new one.
          TooManyTokens.
        """
        name = check_line("name", name, _LONGEST_NAME)
        chosen = tuple(scope for scope in SCOPES if scope in set(scopes))
        if not chosen:
            raise FieldInvalid(f"scopes: choose at least one of {', '.join(SCOPES)}.")
        if "instruct" in chosen and caller.user.role == "student":
            # It would begin to count when the student becomes an instructor, or an assistant of a course.
            raise FieldInvalid("scopes: 'instruct' requires the role instructor. Yours is student.")
        if expires_in_days is not None and not 1 <= expires_in_days <= _MOST_DAYS:
            raise FieldInvalid(
                f"expires_in_days: choose 1 to {_MOST_DAYS} days, or omit it for a token that does not expire."
            )
        if lacking := [scope for scope in chosen if scope not in caller.scopes]:
            raise ScopeMissing(f"Your token lacks the scope {lacking[0]!r}, so it cannot grant it.", scope=lacking[0])
        expires_at = None if expires_in_days is None else now() + timedelta(days=expires_in_days)
        if caller.token_expires_at is not None and (expires_at is None or expires_at > caller.token_expires_at):
            raise ScopeMissing("A token that expires cannot create a token that outlives it.", scope="account")
        token = new_token()
        row = _row(token, caller.user.id, name, chosen, expires_at)
        async with self._database.writing() as session:
            await session.execute(
                delete(APITokenRow).where(APITokenRow.user_id == caller.user.id, APITokenRow.expires_at <= now())
            )
            count = await session.scalar(select(func.count()).where(APITokenRow.user_id == caller.user.id))
            if (count or 0) >= _MOST:
                raise TooManyTokens(f"You have {count} API tokens, which is the maximum. Revoke one.")
            session.add(row)
        return token, _view(row)

    async def list(self, user_id: str) -> list[Token]:
        """The tokens that have not expired, newest first."""
        async with self._database.reading() as session:
            rows = await session.scalars(
                select(APITokenRow)
                .where(APITokenRow.user_id == user_id, _lives_at(now()))
                .order_by(APITokenRow.created_at.desc(), APITokenRow.id)
            )
            return [_view(row) for row in rows]

    async def revoke(self, user_id: str, token_id: str) -> None:
        """Raises `TokenNotFound`, even for another user's token or a preset one, which a restart would bring back."""
        row = APITokenRow
        if not await self._database.delete_one(row, token_id, row.user_id == user_id, row.preset.is_(False)):
            raise TokenNotFound(
                f"You have no API token with the id {token_id[:64]!r} that can be revoked. "
                "(To revoke the preset one, change MESHGRADE_OWNER_TOKEN.)"
            )

    async def caller(self, token: str) -> Caller:
        """The caller with this API token. Raises `TokenInvalid`."""
        token_hash = digest(token)
        async with self._database.reading() as session:
            row = (await select_rows(session, _CALLER, {"token_hash": token_hash, "moment": now()})).one_or_none()
        if row is None:
            raise TokenInvalid(
                "The bearer token in the Authorization header is unknown, has expired or was revoked.",
                headers={"WWW-Authenticate": 'Bearer error="invalid_token"'},
            )
        user_id, name, role, scopes, expires_at, last_used_at = row
        self._uses.note("api_tokens", token_hash, last_used_at)
        return Caller(User(user_id, name, role), frozenset(_scopes(scopes)), token_expires_at=expires_at)


def _lives_at(moment: datetime | BindParameter[datetime]) -> ColumnElement[bool]:
    return or_(_token.expires_at.is_(None), _token.expires_at > moment)


_user, _token = UserRow.__table__.c, APITokenRow.__table__.c


# Built once: building a statement takes as long as executing it, and every request begins with this one.
_CALLER = PreparedSelect(
    select(_user.id, _user.name, _user.role, _token.scopes, _token.expires_at, _token.last_used_at)
    .join_from(APITokenRow.__table__, UserRow.__table__, _token.user_id == _user.id)
    .where(
        _token.token_hash == bindparam("token_hash"),
        _lives_at(bindparam("moment", type_=UTCDateTime)),
        _user.deactivated_at.is_(None),
    )
)


def _row(
    token: str, user_id: str, name: str, scopes: Iterable[Scope], expires_at: datetime | None, *, preset: bool = False
) -> APITokenRow:
    return APITokenRow(
        token_hash=digest(token),
        id=new_id(),
        user_id=user_id,
        name=name,
        scopes=" ".join(scopes),
        preset=preset,
        created_at=now(),
        expires_at=expires_at,
    )


def _scopes(stored: str) -> tuple[Scope, ...]:
    return cast(tuple[Scope, ...], tuple(stored.split()))


def _view(row: APITokenRow) -> Token:
    return Token.read_from(row, scopes=_scopes(row.scopes))
