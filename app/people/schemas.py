"""REST bodies and responses for people."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from app.accounts.roles import Role
from app.accounts.text import EMPTY_LINE_PATTERN
from app.attempts.schemas import EXAMPLE_FINISHED, EXAMPLE_SOURCE, AttemptJSON
from app.audit.log import LONGEST_REASON
from app.people.at_problem import PersonAtProblem
from app.people.listing import Person

_PERSON: dict[str, Any] = {
    "id": "9e7c5a3b1d0f2e4c6a8b0d1f3e5c7a9b",
    "name": "ada",
    "role": "student",
    "created_at": "2026-01-05T09:30:00.000000Z",
    "deactivated_at": None,
    "last_active_at": "2026-01-12T14:05:00.000000Z",
}
# The pattern is only described here. app/accounts/text.py enforces it and says what is wrong.
_REASON: dict[str, Any] = {"max_length": LONGEST_REASON, "json_schema_extra": {"pattern": EMPTY_LINE_PATTERN}}


def _body(*examples: dict[str, Any]) -> ConfigDict:
    return ConfigDict(strict=True, extra="forbid", json_schema_extra={"examples": list(examples)})


class ReasonJSON(BaseModel):
    """`reason` appears in the audit log."""

    model_config = _body({"reason": "left the course"})

    reason: str = Field(default="", **_REASON)


class NewRoleJSON(BaseModel):
    """`reason` appears in the audit log."""

    model_config = _body({"role": "instructor", "reason": "teaches the second group"})

    role: Role
    reason: str = Field(default="", **_REASON)


class MergeJSON(BaseModel):
    """`into` is the name of the account that remains. `end_higher_role` allows that the account that ends has more."""

    model_config = _body({"into": "ada", "reason": "two accounts", "end_higher_role": False})

    into: str = Field(min_length=1, max_length=200)
    reason: str = Field(default="", **_REASON)
    end_higher_role: bool = False


class PersonJSON(BaseModel):
    """`deactivated_at` is null for an active account. `last_active_at` may lag by a few minutes."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_PERSON]})

    id: str
    name: str
    role: Role
    created_at: datetime
    deactivated_at: datetime | None
    last_active_at: datetime | None

    @classmethod
    def of(cls, person: Person) -> "PersonJSON":
        return cls(**{name: getattr(person, name) for name in cls.model_fields})


class PeoplePage(BaseModel):
    """By name. For the next page, send `next` as `after`. It is null on the last page."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"people": [_PERSON], "next": None}]})

    people: list[PersonJSON]
    next: str | None


class SignInLinkJSON(BaseModel):
    """`url` signs one browser in, once. It is not stored, so it is shown only here.

    It is only a path if the service listens on every network and MESHGRADE_PUBLIC_URL is not set.
    """

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"url": "https://grader.example.org/sign-in?token=kR3v…"}]},
    )

    url: str


class SourcedAttemptJSON(AttemptJSON):
    """An attempt or run of somebody else, with the source that they sent. `queue` stays null."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [EXAMPLE_FINISHED | {"source": EXAMPLE_SOURCE}]}
    )

    source: str


_AT_PROBLEM: dict[str, Any] = {
    "id": "9e7c5a3b1d0f2e4c6a8b0d1f3e5c7a9b",
    "name": "ada",
    "sent": 7,
    "best_score": 80,
    "accepted": False,
    "last_at": "2026-01-12T14:05:00.000000Z",
}


class PersonAtProblemJSON(BaseModel):
    """`sent` counts attempts and runs. `best_score` is null until an attempt is scored."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_AT_PROBLEM]})

    id: str
    name: str
    sent: int
    best_score: int | None
    accepted: bool
    last_at: datetime

    @classmethod
    def of(cls, person: PersonAtProblem) -> "PersonAtProblemJSON":
        return cls(**{name: getattr(person, name) for name in cls.model_fields})


class ProblemPeoplePage(BaseModel):
    """By name. For the next page, send `next` as `after`. It is null on the last page."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"people": [_AT_PROBLEM], "next": None}]})

    people: list[PersonAtProblemJSON]
    next: str | None
