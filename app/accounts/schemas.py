"""REST bodies and responses for users, their API tokens and their invitations."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from app.accounts.invitations import LONGEST_NOTE, MOST_AT_ONCE, InvitationView
from app.accounts.roles import Role, Scope
from app.accounts.text import EMPTY_LINE_PATTERN, LINE_PATTERN
from app.accounts.tokens import TokenView

_TOKEN: dict[str, Any] = {
    "id": "1d7c3f5b9e2a4c6d8f0b1a3c5e7d9f2b",
    "name": "laptop",
    "scopes": ["read", "submit"],
    "preset": False,
    "created_at": "2026-01-05T09:30:00.000000Z",
    "last_used_at": None,
    "expires_at": "2026-04-05T09:30:00.000000Z",
}
_INVITATION: dict[str, Any] = {
    "id": "7a9c1e3f5b2d4c6e8f0a1b3d5c7e9f4a",
    "role": "student",
    "note": "Ada, second row",
    "created_at": "2026-01-05T09:30:00.000000Z",
    "expires_at": "2026-01-12T09:30:00.000000Z",
}


def _whole(value: Any) -> Any:
    """JSON has one kind of number: 7.0 is 7."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


# In this order: the other way round, pydantic omits the bounds from the schema.
_UpTo90 = Annotated[int, Field(ge=1, le=90), BeforeValidator(_whole)]
_Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NOTE, json_schema_extra={"pattern": LINE_PATTERN})]
_UpTo366 = Annotated[int, Field(ge=1, le=366), BeforeValidator(_whole)]


def _answer(*examples: dict[str, Any]) -> ConfigDict:
    return ConfigDict(extra="forbid", json_schema_extra={"examples": list(examples)})


def _body(*examples: dict[str, Any]) -> ConfigDict:
    return ConfigDict(strict=True, extra="forbid", json_schema_extra={"examples": list(examples)})


class MeJSON(BaseModel):
    """The user of the token or cookie."""

    model_config = _answer({"id": "5f0c8e0e2f6b4d1c9a7e3b2d1f0a9c8b", "name": "owner", "role": "owner"})

    id: str
    name: str
    role: Role


class NewTokenJSON(BaseModel):
    """Without `expires_in_days`, the token does not expire."""

    model_config = _body({"name": "laptop", "scopes": ["read", "submit"], "expires_in_days": 90})

    # The patterns are only described here. app/accounts/text.py enforces them and says what is wrong.
    name: str = Field(min_length=1, max_length=100, json_schema_extra={"pattern": LINE_PATTERN})
    scopes: list[Scope] = Field(min_length=1, max_length=10)
    expires_in_days: _UpTo366 | None = None


class TokenJSON(BaseModel):
    """`preset` is true if it came from MESHGRADE_OWNER_TOKEN. `last_used_at` may lag by a few minutes."""

    model_config = _answer(_TOKEN)

    id: str
    name: str
    scopes: list[Scope]
    preset: bool
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime | None

    @classmethod
    def of(cls, view: TokenView) -> "TokenJSON":
        return cls(
            id=view.id,
            name=view.name,
            scopes=list(view.scopes),
            preset=view.preset,
            created_at=view.created_at,
            last_used_at=view.last_used_at,
            expires_at=view.expires_at,
        )


class CreatedTokenJSON(TokenJSON):
    """`token` is the value to send. It is not stored, so it is shown only once."""

    model_config = _answer(_TOKEN | {"token": "mFq0…"})

    token: str


class TokenList(BaseModel):
    model_config = _answer({"tokens": [_TOKEN]})

    tokens: list[TokenJSON]


class NewInvitationJSON(BaseModel):
    """`role` may be at most your own. Only you see `note`."""

    model_config = _body({"role": "student", "note": "Ada, second row", "expires_in_days": 7})

    role: Role = "student"
    note: str = Field(default="", max_length=100, json_schema_extra={"pattern": EMPTY_LINE_PATTERN})
    expires_in_days: _UpTo90 = 7


class InvitationJSON(BaseModel):
    model_config = _answer(_INVITATION)

    id: str
    role: Role
    note: str
    created_at: datetime
    expires_at: datetime

    @classmethod
    def of(cls, view: InvitationView) -> "InvitationJSON":
        return cls(
            id=view.id,
            role=view.role,
            note=view.note,
            created_at=view.created_at,
            expires_at=view.expires_at,
        )


class CreatedInvitationJSON(InvitationJSON):
    """`url` creates one account. It is not stored, so it is shown only once.

    It is only a path if the service listens on every network and MESHGRADE_PUBLIC_URL is not set.
    """

    model_config = _answer(_INVITATION | {"url": "https://grader.example.org/sign-up?invitation=kR3v…"})

    url: str


class NewClassJSON(BaseModel):
    """An invitation of a student for each of `notes`, which only you see. No two may be the same."""

    model_config = _body({"notes": ["Ada, second row", "Grace"], "expires_in_days": 30})

    notes: list[_Name] = Field(min_length=1, max_length=MOST_AT_ONCE, json_schema_extra={"uniqueItems": True})
    expires_in_days: _UpTo90 = 7


class ClassInvitationList(BaseModel):
    """In the order of the names. Each `url` is shown only here."""

    model_config = _answer(
        {"invitations": [_INVITATION | {"url": "https://grader.example.org/sign-up?invitation=kR3v…"}]}
    )

    invitations: list[CreatedInvitationJSON]


class InvitationList(BaseModel):
    model_config = _answer({"invitations": [_INVITATION]})

    invitations: list[InvitationJSON]
