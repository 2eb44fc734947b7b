"""REST responses for insight."""

from typing import Any

from pydantic import BaseModel, ConfigDict

from app.insight.service import ProblemLine
from app.insight.summary import Cluster, Stop, Summary

_LINE: dict[str, Any] = {"problem": "fsdp_step", "people": 31, "solved": 24, "attempts": 118, "accepted": 40}
_STOP: dict[str, Any] = {"name": "values", "attempts": 41, "people": 19, "stuck": 4}
_CLUSTER: dict[str, Any] = {
    "check": "values",
    "cases": ["public-1", "hidden-2"],
    "attempts": 9,
    "people": 6,
    "example": {"user": "9e7c5a3b1d0f2e4c6a8b0d1f3e5c7a9b", "attempt": "8c2f6e1d9b7a4f5e8d3c2b1a0f9e8d7c"},
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
    """Rejected attempts without a known misconception that fail the same check and the same cases."""

    model_config = ConfigDict(extra="forbid")

    check: str
    cases: list[str]
    attempts: int
    people: int
    example: ExampleJSON

    @classmethod
    def of(cls, cluster: Cluster) -> "ClusterJSON":
        return cls(
            check=cluster.check,
            cases=list(cluster.cases),
            attempts=cluster.attempts,
            people=cluster.people,
            example=ExampleJSON(user=cluster.example_user, attempt=cluster.example),
        )


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
            unexplained=summary.unexplained,
            clusters=[ClusterJSON.of(each) for each in summary.clusters],
        )
