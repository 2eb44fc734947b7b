"""REST responses for instructors about rejudges."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

from app.authoring.schemas import EXAMPLE_VERSION
from app.rejudging.service import Change, Rejudge, RejudgeStatus
from grader.reasons import Reason
from grader.verdict import Status

_REJUDGE: dict[str, Any] = {
    "id": "1a0f9e8d7c0b8f6e1d9b7a4f5e8d3c2b",
    "problem": "fsdp_step",
    "version": EXAMPLE_VERSION,
    "status": "finished",
    "total": 412,
    "graded": 412,
    "changed": 9,
    "failed": 0,
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


class RejudgeJSON(BaseModel):
    """A rejudge and its progress. `changed` counts the attempts whose status or score it changes; `failed` those that
    the grader could not judge, which keep their verdict.

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
    created_at: datetime
    finished_at: datetime | None
    applied_at: datetime | None

    @classmethod
    def of(cls, rejudge: Rejudge) -> "RejudgeJSON":
        return cls(**{name: getattr(rejudge, name) for name in cls.model_fields})


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
