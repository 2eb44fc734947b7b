"""REST responses for insight."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from app.accounts.text import LINE_PATTERN
from app.audit.schemas import PartyJSON
from app.insight.discrimination import Discrimination, ItemKind, WithoutIndex
from app.insight.misconceptions import LONGEST
from app.insight.service import ClusterMember, ProblemLine
from app.insight.summary import Cluster, Stop, Summary
from grader.reasons import Reason

_LINE: dict[str, Any] = {"problem": "fsdp_step", "people": 31, "solved": 24, "attempts": 118, "accepted": 40}
_STOP: dict[str, Any] = {"name": "values", "attempts": 41, "people": 19, "stuck": 4}
_CLUSTER: dict[str, Any] = {
    "key": "5d2c8b7a90e1f3c4",
    "reason": "wrong_value",
    "check": "values",
    "signs": ["public-1: [0] is 2.5, not 1.25"],
    "cases": ["public-1", "hidden-2"],
    "attempts": 9,
    "people": 6,
    "example": {"user": "9e7c5a3b1d0f2e4c6a8b0d1f3e5c7a9b", "attempt": "8c2f6e1d9b7a4f5e8d3c2b1a0f9e8d7c"},
}
_ITEM: dict[str, Any] = {
    "kind": "case",
    "name": "hidden-2",
    "people": 31,
    "passed": 22,
    "index": 0.41,
    "without": None,
}
_MEMBER: dict[str, Any] = {
    "id": "8c2f6e1d9b7a4f5e8d3c2b1a0f9e8d7c",
    "user": {"id": "9e7c5a3b1d0f2e4c6a8b0d1f3e5c7a9b", "name": "ada"},
    "created_at": "2026-01-05T09:30:00.000000Z",
}
_INSIGHT: dict[str, Any] = {
    "problem": "fsdp_step",
    "version": "3b9f4c0a7d2e",
    "people": 31,
    "solved": 24,
    "graded": 118,
    "accepted": 40,
    "attempts_to_solve": [{"attempts": "1", "people": 5}, {"attempts": "2", "people": 9}],
    "median_attempts": 3,
    "median_time_s": 5400,
    "rejected": 78,
    "checks": [_STOP],
    "cases": [_STOP | {"name": "public-1"}],
    "misconceptions": [_STOP | {"name": "Adds up the gradients, and never divides."}],
    "never_failed": ["hidden-4"],
    "discrimination": [_ITEM],
    "unexplained": 30,
    "clusters": [_CLUSTER],
}


def _answer(example: dict[str, Any]) -> ConfigDict:
    return ConfigDict(extra="forbid", json_schema_extra={"examples": [example]})


class ProblemLineJSON(BaseModel):
    model_config = _answer(_LINE)

    problem: str
    people: int
    solved: int
    attempts: int
    accepted: int

    @classmethod
    def of(cls, line: ProblemLine) -> "ProblemLineJSON":
        return cls(**{name: getattr(line, name) for name in cls.model_fields})


class InsightList(BaseModel):
    """Every problem to which students have submitted, by slug."""

    model_config = _answer({"problems": [_LINE]})

    problems: list[ProblemLineJSON]


class StepJSON(BaseModel):
    """How many people solved it with so many attempts. `attempts` is a number or a range."""

    model_config = ConfigDict(extra="forbid")

    attempts: str
    people: int


class StopJSON(BaseModel):
    """`attempts` of `people` failed here. `stuck` of them have not solved the problem, and it is their last attempt."""

    model_config = ConfigDict(extra="forbid")

    name: str
    attempts: int
    people: int
    stuck: int

    @classmethod
    def of(cls, stop: Stop) -> "StopJSON":
        return cls(**{name: getattr(stop, name) for name in cls.model_fields})


class ExampleJSON(BaseModel):
    model_config = ConfigDict(extra="forbid")

    user: str
    attempt: str


class ClusterJSON(BaseModel):
    """Rejected attempts without a known misconception that are wrong in the same way. `signs` say what was measured.

    Where nothing was, they fail the same check and the same cases. `key` names the cluster.
    """

    model_config = ConfigDict(extra="forbid")

    key: str
    reason: Reason | None
    check: str
    signs: list[str]
    cases: list[str]
    attempts: int
    people: int
    example: ExampleJSON

    @classmethod
    def of(cls, cluster: Cluster) -> "ClusterJSON":
        return cls(
            key=cluster.key,
            reason=cluster.reason,
            check=cluster.check,
            signs=list(cluster.signs),
            cases=list(cluster.cases),
            attempts=cluster.attempts,
            people=cluster.people,
            example=ExampleJSON(user=cluster.example_user, attempt=cluster.example),
        )


class MemberJSON(BaseModel):
    """An attempt of a cluster, and whose it is."""

    model_config = ConfigDict(extra="forbid")

    id: str
    user: PartyJSON
    created_at: datetime

    @classmethod
    def of(cls, member: ClusterMember) -> "MemberJSON":
        return cls(id=member.id, user=PartyJSON(id=member.user_id, name=member.name), created_at=member.created_at)


class ClusterMembersJSON(BaseModel):
    """A cluster with its newest attempts, at most twenty, newest first."""

    model_config = _answer({"cluster": _CLUSTER, "members": [_MEMBER]})

    cluster: ClusterJSON
    members: list[MemberJSON]


class NewMisconceptionJSON(BaseModel):
    """`text` says what the author of the attempt misunderstood. `base` is the version that the new one continues; null
    for the newest draft, or the served version if nothing was stored since."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        json_schema_extra={
            "examples": [{"attempt": _MEMBER["id"], "text": "Adds up the gradients, and never divides.", "base": None}]
        },
    )

    attempt: str = Field(max_length=64)
    # The pattern is only described here. app/accounts/text.py enforces it and says what is wrong.
    text: str = Field(min_length=1, max_length=LONGEST, json_schema_extra={"pattern": LINE_PATTERN})
    base: str | None = Field(default=None, max_length=64)


class DiscriminationJSON(BaseModel):
    """How an item separates people: `passed` of `people` pass it at their first attempt that ran.

    `index` is the correlation, from -1 to 1, between passing it and how many other cases or checks they pass. It is
    null for the reason in `without`.
    """

    model_config = ConfigDict(extra="forbid")

    kind: ItemKind
    name: str
    people: int
    passed: int
    index: float | None
    without: WithoutIndex | None

    @classmethod
    def of(cls, item: Discrimination) -> "DiscriminationJSON":
        return cls(**{name: getattr(item, name) for name in cls.model_fields})


class InsightJSON(BaseModel):
    """How students do at a problem. From `rejected` on, only attempts at the served `version` count."""

    model_config = _answer(_INSIGHT)

    problem: str
    version: str
    people: int
    solved: int
    graded: int
    accepted: int
    attempts_to_solve: list[StepJSON]
    median_attempts: float | None
    median_time_s: float | None
    rejected: int
    checks: list[StopJSON]
    cases: list[StopJSON]
    misconceptions: list[StopJSON]
    never_failed: list[str] | None
    discrimination: list[DiscriminationJSON]
    unexplained: int
    clusters: list[ClusterJSON]

    @classmethod
    def of(cls, problem: str, version: str, summary: Summary) -> "InsightJSON":
        return cls(
            problem=problem,
            version=version,
            people=summary.people,
            solved=summary.solved,
            graded=summary.graded,
            accepted=summary.accepted,
            attempts_to_solve=[StepJSON(attempts=label, people=count) for label, count in summary.attempts_to_solve],
            median_attempts=summary.median_attempts,
            median_time_s=None if summary.median_time is None else summary.median_time.total_seconds(),
            rejected=summary.rejected,
            checks=[StopJSON.of(each) for each in summary.checks],
            cases=[StopJSON.of(each) for each in summary.cases],
            misconceptions=[StopJSON.of(each) for each in summary.misconceptions],
            never_failed=None if summary.never_failed is None else list(summary.never_failed),
            discrimination=[DiscriminationJSON.of(each) for each in summary.discrimination],
            unexplained=summary.unexplained,
            clusters=[ClusterJSON.of(each) for each in summary.clusters],
        )
