"""REST responses for insight."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from app.accounts.audit.log import Party
from app.accounts.text_rules import LINE_PATTERN
from app.core.rest.actions import FromForm
from app.core.rest.body import RequestBody
from app.core.view import View
from app.teaching.insight.discrimination import Discrimination
from app.teaching.insight.misconceptions import LONGEST
from app.teaching.insight.problem_summary import Cluster, CountedVersion, Stop, Summary
from app.teaching.insight.service import ClusterMember, ProblemLine
from grader.core.reasons import Reason


class InsightList(View):
    """Every problem to which students have submitted, by slug."""

    problems: list[ProblemLine]


class StepJSON(View):
    """How many people solved it with this number of attempts. `attempts` is a number or a range."""

    attempts: str
    people: int


class ExampleJSON(View):
    user: str
    attempt: str


class ClusterJSON(View):
    """Rejected attempts without a known misconception that are wrong in the same way. `signs` say what was measured.

    If nothing was, they fail the same check and the same cases. `key` names the cluster.
    """

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
        return cls.read_from(cluster, example=ExampleJSON(user=cluster.example_user, attempt=cluster.example))


class MemberJSON(View):
    """An attempt of a cluster, and whose it is."""

    id: str
    user: Party
    created_at: datetime

    @classmethod
    def of(cls, member: ClusterMember) -> "MemberJSON":
        return cls(id=member.id, user=Party(id=member.user_id, name=member.name), created_at=member.created_at)


class ClusterMembersJSON(View):
    """A cluster with its newest attempts, at most twenty, newest first."""

    cluster: ClusterJSON
    members: list[MemberJSON]


def _one_line(text: str) -> str:
    # The field has several rows, and a docstring one line.
    return " ".join(text.split())


class NewMisconceptionJSON(RequestBody):
    """`text` says what the author of the attempt misunderstood. `base` is the version that the new one continues; null
    for the newest draft, or the served version if nothing was stored since."""

    attempt: str = Field(max_length=64)
    # The pattern is only described here. app/accounts/text_rules.py enforces it and says what is wrong.
    text: Annotated[str, FromForm(_one_line)] = Field(
        min_length=1, max_length=LONGEST, json_schema_extra={"pattern": LINE_PATTERN}
    )
    base: str | None = Field(default=None, max_length=64)


class InsightJSON(View):
    """How students are doing at a problem, whose served version is `version`. `versions` are those that are counted.

    `checks` and `cases` have only those of the served version. `left_out` names those that failed only in others.
    """

    problem: str
    version: str
    versions: list[CountedVersion]
    people: int
    solved: int
    graded: int
    accepted: int
    attempts_to_solve: list[StepJSON]
    median_attempts: float | None
    median_time_s: float | None
    rejected: int
    checks: list[Stop]
    cases: list[Stop]
    left_out: list[str]
    misconceptions: list[Stop]
    never_failed: list[str] | None
    discrimination: list[Discrimination]
    unexplained: int
    clusters: list[ClusterJSON]

    @classmethod
    def at_problem(cls, problem: str, version: str, summary: Summary) -> "InsightJSON":
        return cls.read_from(
            summary,
            problem=problem,
            version=version,
            attempts_to_solve=[StepJSON(attempts=label, people=count) for label, count in summary.attempts_to_solve],
            median_time_s=None if summary.median_time is None else summary.median_time.total_seconds(),
            never_failed=None if summary.never_failed is None else list(summary.never_failed),
            clusters=[ClusterJSON.of(each) for each in summary.clusters],
        )
