"""A user of the service, and the caller of one request."""

from dataclasses import dataclass
from datetime import datetime
from typing import cast

from app.accounts.models import UserRow
from app.accounts.roles import Role, Scope


@dataclass(frozen=True, slots=True)
class Guest:
    """Someone who is not signed in: the hash of a cookie that only their browser has, and their network address."""

    browser: str
    address: str


@dataclass(frozen=True, slots=True)
class User:
    """All guests are one user with the id `GUEST_ID`, and `guest` says which one. Guests see only their own runs."""

    id: str
    name: str
    role: Role
    guest: Guest | None = None


GUEST_ID = "guest"
# Nobody can sign in with a name that has parentheses: see text_rules.py.
GUEST_NAME = "(guest)"


@dataclass(frozen=True, slots=True)
class Caller:
    """The user who sent a request, and the scopes of the session or token that they sent it with.

    `authenticated_at` is when they last proved their identity. It is None for an API token, and so is `session_id`.
    `token_expires_at` is None for a session, and for a token that does not expire.
    """

    user: User
    scopes: frozenset[Scope]
    session_id: str | None = None
    authenticated_at: datetime | None = None
    token_expires_at: datetime | None = None


def user_of(row: UserRow) -> User:
    return User(id=row.id, name=row.name, role=cast(Role, row.role))
