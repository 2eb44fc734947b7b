"""A person as the service knows them, and the caller of one request."""

from dataclasses import dataclass
from datetime import datetime
from typing import cast

from app.accounts.models import UserRow
from app.accounts.roles import Role, Scope


@dataclass(frozen=True, slots=True)
class User:
    id: str
    name: str
    role: Role


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, and how far what they prove it with reaches.

    `session_id` and `authenticated_at`, the last time that they proved who they are, are None for an API token;
    `token_expires_at` is None for a session, and for a token without an end.
    """

    user: User
    scopes: frozenset[Scope]
    session_id: str | None = None
    authenticated_at: datetime | None = None
    token_expires_at: datetime | None = None


def user_of(row: UserRow) -> User:
    return User(id=row.id, name=row.name, role=cast(Role, row.role))
