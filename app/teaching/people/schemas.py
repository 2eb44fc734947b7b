"""REST bodies and responses for people."""

from datetime import datetime
from typing import Any

from pydantic import Field

from app.accounts.audit.log import LONGEST_REASON
from app.accounts.roles import Role
from app.accounts.text_rules import EMPTY_LINE_PATTERN, LINE_PATTERN
from app.core.rest.body import RequestBody
from app.core.view import View
from app.grading.attempts.overrides import MOST_POINTS
from app.grading.attempts.views import AttemptJSON
from app.grading.queue.grading_tries import Try
from app.grading.queue.status import AttemptStatus
from app.grading.queue.withheld_verdicts import Shown
from app.teaching.people.at_problem import PersonAtProblem
from app.teaching.people.directory import Person
from app.teaching.people.grading_history import GradingHistory
from grader.verdicts.verdict import Timings

# The pattern is only described here. app/accounts/text_rules.py enforces it and says what is wrong.
_REASON: dict[str, Any] = {"max_length": LONGEST_REASON, "json_schema_extra": {"pattern": EMPTY_LINE_PATTERN}}


class ReasonJSON(RequestBody):
    """`reason` appears in the audit log."""

    reason: str = Field(default="", **_REASON)


class NewRoleJSON(RequestBody):
    """`reason` appears in the audit log."""

    role: Role
    reason: str = Field(default="", **_REASON)


class NewOverrideJSON(RequestBody):
    """`score` counts instead of the verdict's. The student and the audit log see the `reason`."""

    score: int = Field(ge=0, le=MOST_POINTS)
    reason: str = Field(min_length=1, max_length=LONGEST_REASON, json_schema_extra={"pattern": LINE_PATTERN})


class MergeJSON(RequestBody):
    """`into` is the name of the account that remains.

    `end_higher_role` allows the other account to have a higher role, which is lost.
    """

    into: str = Field(min_length=1, max_length=200)
    reason: str = Field(default="", **_REASON)
    end_higher_role: bool = False


class EraseJSON(RequestBody):
    """`name` is that of the account, to confirm. `reason` appears in the audit log."""

    name: str = Field(min_length=1, max_length=200)
    reason: str = Field(default="", **_REASON)


class PeoplePage(View):
    """By name. For the next page, send `next` as `after`. It is null on the last page."""

    people: list[Person]
    next: str | None


class SignInLinkJSON(View):
    """`url` signs one browser in, once. It is not stored, so it is shown only here.

    It is only a path if the service listens on every network and MESHGRADE_PUBLIC_URL is not set.
    """

    url: str


class SourcedAttemptJSON(AttemptJSON):
    """An attempt or run of another person, with its source. `queue` stays null."""

    source: Shown[str]


class GradingJSON(View):
    """How an attempt was graded. `tries` is empty if it has not begun, or ended before tries were stored.

    `counted` is how many tries count. `walls` and `timings_ms` are those of the verdict, and null without one.
    """

    attempt: str
    status: AttemptStatus
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    counted: int
    tries: list[Try]
    walls: list[str] | None
    timings_ms: Timings | None

    @classmethod
    def of(cls, story: GradingHistory) -> "GradingJSON":
        attempt = story.attempt
        return cls.read_from(
            attempt,
            attempt=attempt.id,
            counted=story.counted,
            tries=story.tries,
            walls=attempt.verdict.walls if attempt.verdict else None,
            timings_ms=attempt.verdict.timings_ms if attempt.verdict else None,
        )


class ProblemPeoplePage(View):
    """By name. For the next page, send `next` as `after`. It is null on the last page."""

    people: list[PersonAtProblem]
    next: str | None
