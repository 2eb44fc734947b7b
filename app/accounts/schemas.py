"""REST bodies and responses for users, their API tokens and their invitations."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from app.accounts.invitations import LONGEST_NOTE, MOST_AT_ONCE, Invitation
from app.accounts.roles import Role, Scope
from app.accounts.text_rules import EMPTY_LINE_PATTERN, LINE_PATTERN
from app.accounts.tokens import Token
from app.core.rest.actions import AS_TYPED
from app.core.rest.body import RequestBody
from app.core.view import View


def _whole(value: Any) -> Any:
    """JSON has one kind of number: 7.0 is 7."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


# In this order: the other way round, pydantic omits the bounds from the schema.
_UpTo90 = Annotated[int, Field(ge=1, le=90), BeforeValidator(_whole)]
_Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NOTE, json_schema_extra={"pattern": LINE_PATTERN})]
_UpTo366 = Annotated[int, Field(ge=1, le=366), BeforeValidator(_whole)]
Password = Annotated[str, AS_TYPED]


class MeJSON(View):
    """The user of the token or cookie."""

    id: str
    name: str
    role: Role


class NewTokenJSON(RequestBody):
    """Without `expires_in_days`, the token does not expire."""

    # The patterns are only described here. app/accounts/text_rules.py enforces them and says what is wrong.
    name: str = Field(min_length=1, max_length=100, json_schema_extra={"pattern": LINE_PATTERN})
    # So is the least number of scopes, which tokens.py enforces.
    scopes: list[Scope] = Field(max_length=10, json_schema_extra={"minItems": 1})
    expires_in_days: _UpTo366 | None = None


class CreatedTokenJSON(Token):
    """`token` is the value to send. It is not stored, so it is shown only once."""

    token: str


class TokenList(View):
    tokens: list[Token]


class NewInvitationJSON(RequestBody):
    """`role` may be at most your own. Only you see `note`."""

    role: Role = "student"
    note: str = Field(default="", max_length=100, json_schema_extra={"pattern": EMPTY_LINE_PATTERN})
    expires_in_days: _UpTo90 = 7


class CreatedInvitationJSON(Invitation):
    """`url` creates one account. It is not stored, so it is shown only once.

    It is only a path if the service listens on every network and MESHGRADE_PUBLIC_URL is not set.
    """

    url: str


class NewClassJSON(RequestBody):
    """An invitation of a student for each of `notes`, which only you see. No two may be the same."""

    notes: list[_Name] = Field(min_length=1, max_length=MOST_AT_ONCE, json_schema_extra={"uniqueItems": True})
    expires_in_days: _UpTo90 = 7


class ClassInvitationList(View):
    """In the order of the names. Each `url` is shown only here."""

    invitations: list[CreatedInvitationJSON]


class InvitationList(View):
    invitations: list[Invitation]
