"""REST responses for instructors about rejudges."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from app.authoring.schemas import EXAMPLE_VERSION, VersionJSON
from app.rejudging.choosing import MOST_PEOPLE
from app.rejudging.errors import SelectionInvalid
from app.rejudging.selection import Selection
from app.rejudging.service import Change, Count, Rejudge, RejudgeStatus
from grader.reasons import Reason
from grader.verdict import Status

_MOST_VERSIONS = 100
MOMENT_PATTERN = (
    r"^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?Z$"
)
_ID = Annotated[str, StringConstraints(pattern="^[0-9a-f]{32}$")]
_VERSION = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]
_MOMENT = Annotated[str, StringConstraints(pattern=MOMENT_PATTERN)]
_SELECTION: dict[str, Any] = {
    "versions": ["0f" * 32],
    "course": "2c4e6a8b0d1f3e5c7a9b9e7c5a3b1d0f",
    "assignment": None,
    "people": [],
    "since": "2026-01-01T00:00:00Z",
    "until": None,
}
_REJUDGE: dict[str, Any] = {
    "id": "1a0f9e8d7c0b8f6e1d9b7a4f5e8d3c2b",
    "problem": "fsdp_step",
    "version": EXAMPLE_VERSION,
    "status": "finished",
    "total": 412,
    "graded": 412,
    "changed": 9,
    "failed": 0,
    "not_lowered": 0,
    "selection": _SELECTION,
    "never_lower": False,
    "created_at": "2026-01-05T09:30:00.000000Z",
    "finished_at": "2026-01-05T09:41:12.000000Z",
    "applied_at": None,
}
_CHANGE: dict[str, Any] = {
    "attempt": "8c2f6e1d9b7a4f5e8d3c2b1a0f9e8d7c",
    "user": "ada",
    "before": {"version": "0f" * 32, "status": "accepted", "reason": None, "score": 100},
    "after": {"version": EXAMPLE_VERSION, "status": "rejected", "reason": "wrong_sharding", "score": 60},
}


class NewRejudgeJSON(VersionJSON):
    """`version` grades attempts of other versions. Each other field limits which ones.

    `versions` are those that graded the attempts before, `course` stands for its students, `assignment` for what they
    submitted while it counted, and `people` are ids of accounts. `since` is the first moment of submission, and `until`
    the first moment that is too late.
    """

    model_config = ConfigDict(
        strict=True, extra="forbid", json_schema_extra={"examples": [{"version": EXAMPLE_VERSION, **_SELECTION}]}
    )

    versions: list[_VERSION] = Field(default=[], max_length=_MOST_VERSIONS)
    course: _ID | None = None
    assignment: _ID | None = None
    people: list[_ID] = Field(default=[], max_length=MOST_PEOPLE)
    since: _MOMENT | None = None
    until: _MOMENT | None = None

    def to_selection(self) -> Selection:
        """Raises `SelectionInvalid`."""
        return Selection(
            tuple(self.versions),
            self.course,
            self.assignment,
            tuple(self.people),
            _moment("since", self.since),
            _moment("until", self.until),
        )


def _moment(field: str, text: str | None) -> datetime | None:
    try:
        return None if text is None else datetime.fromisoformat(text)
    except ValueError:
        raise SelectionInvalid(f"{field}: the calendar has no {text[:10] if text else ''}.") from None


class VersionCountJSON(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: str
    attempts: int


class RejudgeCountJSON(BaseModel):
    """What a rejudge would grade: so many attempts of so many people, and how many of each version."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"attempts": 412, "people": 96, "versions": [{"version": "0f" * 32, "attempts": 412}]}]
        },
    )

    attempts: int
    people: int
    versions: list[VersionCountJSON]

    @classmethod
    def of(cls, count: Count) -> "RejudgeCountJSON":
        versions = [VersionCountJSON(version=version, attempts=number) for version, number in count.versions]
        return cls(attempts=count.attempts, people=count.people, versions=versions)


class SelectionJSON(BaseModel):
    """Which attempts it grades. A field that is null or empty leaves that open."""

    model_config = ConfigDict(extra="forbid")

    versions: list[str]
    course: str | None
    assignment: str | None
    people: list[str]
    since: datetime | None
    until: datetime | None

    @classmethod
    def of(cls, chosen: Selection) -> "SelectionJSON":
        return cls(
            versions=list(chosen.versions),
            course=chosen.course,
            assignment=chosen.assignment,
            people=list(chosen.people),
            since=chosen.since,
            until=chosen.until,
        )


class RejudgeJSON(BaseModel):
    """A rejudge and its progress. `changed` counts the attempts whose status or score it changes; `failed` those that
    the grader could not judge, which keep their verdict. After it was applied with `never_lower`, `not_lowered` counts
    the attempts that would have lost points or their status `accepted`, and kept their verdict.

    `status` is `running`, then `finished` until it is applied (`applying`, then `applied`) or `cancelled`.
    """

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_REJUDGE]})

    id: str
    problem: str
    version: str
    status: RejudgeStatus
    total: int
    graded: int
    changed: int
    failed: int
    not_lowered: int
    selection: SelectionJSON
    never_lower: bool
    created_at: datetime
    finished_at: datetime | None
    applied_at: datetime | None

    @classmethod
    def of(cls, rejudge: Rejudge) -> "RejudgeJSON":
        values = {name: getattr(rejudge, name) for name in cls.model_fields}
        return cls(**values | {"selection": SelectionJSON.of(rejudge.selection)})


class RejudgePage(BaseModel):
    """For the next page, send `next` as `before`. It is null on the last page."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"rejudges": [_REJUDGE], "next": None}]})

    rejudges: list[RejudgeJSON]
    next: str | None


class OutcomeJSON(BaseModel):
    """A summary of a verdict. The one before the rejudge has no `reason`."""

    model_config = ConfigDict(extra="forbid")

    version: str
    status: Status
    reason: Reason | None
    score: int | None


class ChangeJSON(BaseModel):
    """One attempt whose status or score a rejudge changes."""

    model_config = ConfigDict(extra="forbid")

    attempt: str
    user: str
    before: OutcomeJSON
    after: OutcomeJSON

    @classmethod
    def of(cls, change: Change, version: str) -> "ChangeJSON":
        return cls(
            attempt=change.attempt_id,
            user=change.user,
            before=OutcomeJSON(
                version=change.old_version, status=change.old_status, reason=None, score=change.old_score
            ),
            after=OutcomeJSON(
                version=version, status=change.new_status, reason=change.new_reason, score=change.new_score
            ),
        )


class ChangePage(BaseModel):
    """Sorted by attempt id. For the next page, send `next` as `after`. It is null on the last page."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"changes": [_CHANGE], "next": None}]})

    changes: list[ChangeJSON]
    next: str | None
