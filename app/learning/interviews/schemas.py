"""REST bodies and responses of interviews."""

from collections.abc import Sequence
from datetime import datetime

from app.core.rest.body import RequestBody
from app.core.view import View
from app.learning.interviews.interview import Interview, Level, PlaceState
from app.learning.interviews.summary import Outcome, words_of


class NewInterviewJSON(RequestBody):
    """The level of its problems; `mixed` is one of each, the easy one first."""

    level: Level


class OutcomeJSON(View):
    """A problem of an interview, and what you sent within its time. Its `problem` is null until it begins.

    `took_s` is from its start to the first accepted attempt. `failed` are the titles of the checks that the last
    attempt failed.
    """

    problem: str | None
    state: PlaceState
    started_at: datetime | None
    due_at: datetime | None
    solved: bool
    took_s: int | None
    runs: int
    attempts: int
    best_score: int | None
    failed: list[str]

    @classmethod
    def of_outcome(cls, outcome: Outcome, moment: datetime) -> "OutcomeJSON":
        place = outcome.place
        return cls(
            problem=place.slug if place.started_at else None,
            state=place.state(moment),
            started_at=place.started_at,
            due_at=place.due_at,
            solved=outcome.is_solved,
            took_s=round(outcome.took.total_seconds()) if outcome.took else None,
            runs=outcome.runs,
            attempts=outcome.attempts,
            best_score=outcome.best,
            failed=list(outcome.failed),
        )


class InterviewJSON(View):
    """One interview. It is `over` once it has ended, at the latest two hours after its last problem began."""

    id: str
    level: Level
    over: bool
    words: str
    created_at: datetime
    expires_at: datetime
    problems: list[OutcomeJSON]

    @classmethod
    def of_interview(cls, interview: Interview, outcomes: Sequence[Outcome], moment: datetime) -> "InterviewJSON":
        return cls.read_from(
            interview,
            over=interview.is_over(moment),
            words=words_of(outcomes),
            problems=[OutcomeJSON.of_outcome(each, moment) for each in outcomes],
        )


class InterviewList(View):
    """The latest interviews, newest first, by id."""

    interviews: list[str]
