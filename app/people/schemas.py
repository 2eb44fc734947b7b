"""REST bodies and responses for people."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from app.accounts.roles import Role
from app.accounts.text import EMPTY_LINE_PATTERN, LINE_PATTERN
from app.attempts.overrides import MOST_POINTS
from app.attempts.schemas import EXAMPLE_FINISHED, EXAMPLE_SOURCE, AttemptJSON
from app.audit.log import LONGEST_REASON
from app.people.at_problem import PersonAtProblem
from app.people.grading import GradingStory
from app.people.listing import Person
from app.queue.gradings import End, Try
from app.queue.status import AttemptStatus
from grader.verdict import Timings

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


class NewOverrideJSON(BaseModel):
    """`score` counts instead of the verdict's. The student and the audit log see the `reason`."""

    model_config = _body({"score": 80, "reason": "the statement did not name this rule"})

    score: int = Field(ge=0, le=MOST_POINTS)
    reason: str = Field(min_length=1, max_length=LONGEST_REASON, json_schema_extra={"pattern": LINE_PATTERN})


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
    """An attempt or run of another person, with its source. `queue` stays null."""

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


class PhaseJSON(BaseModel):
    """`after_ms` counts from the start of the try."""

    model_config = ConfigDict(extra="forbid")

    after_ms: int
    phase: str


class TryJSON(BaseModel):
    """`worker` is the name of a machine and the id of a process on it. `end` is null while the try is running.

    `failed`: the grader failed, and `message` says how. `stopped`: the worker was shut down, or a wall was missing, and
    the try does not count. `died`: the worker no longer extended its lease.
    """

    model_config = ConfigDict(extra="forbid")

    worker: str
    started_at: datetime
    ended_at: datetime | None
    end: End | None
    message: str
    phases: list[PhaseJSON]

    @classmethod
    def of(cls, each: Try) -> "TryJSON":
        phases = [PhaseJSON(after_ms=phase.after_ms, phase=phase.phase) for phase in each.phases]
        return cls(**{name: getattr(each, name) for name in cls.model_fields if name != "phases"}, phases=phases)


class GradingJSON(BaseModel):
    """How an attempt was graded. `tries` is empty if it has not begun, or ended before tries were stored.

    `counted` is how many tries count. `walls` and `timings_ms` are those of the verdict, and null without one.
    """

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "attempt": "8c2f6e1d9b7a4f5e8d3c2b1a0f9e8d7c",
                    "status": "finished",
                    "created_at": "2026-01-05T09:30:00.000000Z",
                    "started_at": "2026-01-05T09:30:00.400000Z",
                    "finished_at": "2026-01-05T09:30:02.300000Z",
                    "counted": 1,
                    "tries": [
                        {
                            "worker": "grader-2:4711",
                            "started_at": "2026-01-05T09:30:00.400000Z",
                            "ended_at": "2026-01-05T09:30:02.300000Z",
                            "end": "finished",
                            "message": "",
                            "phases": [{"after_ms": 0, "phase": "starting"}, {"after_ms": 320, "phase": "case 1 of 4"}],
                        }
                    ],
                    "walls": ["namespaces", "landlock", "seccomp"],
                    "timings_ms": {"queued": 400, "import": 310, "run": 1120, "verify": 0, "total": 1900},
                }
            ]
        },
    )

    attempt: str
    status: AttemptStatus
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    counted: int
    tries: list[TryJSON]
    walls: list[str] | None
    timings_ms: Timings | None

    @classmethod
    def of(cls, story: GradingStory) -> "GradingJSON":
        attempt = story.attempt
        return cls(
            attempt=attempt.id,
            status=attempt.status,
            created_at=attempt.created_at,
            started_at=attempt.started_at,
            finished_at=attempt.finished_at,
            counted=story.counted,
            tries=[TryJSON.of(each) for each in story.tries],
            walls=attempt.verdict.walls if attempt.verdict else None,
            timings_ms=attempt.verdict.timings_ms if attempt.verdict else None,
        )


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
