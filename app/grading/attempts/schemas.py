"""REST bodies and responses for attempts."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel

from app.core.rest.body import RequestBody
from app.core.view import View
from app.grading.attempts.progress import Standing
from app.grading.attempts.ranking import Ranking
from app.grading.attempts.source_rules import Source
from app.grading.attempts.views import AttemptSummary, OwnInputsJSON


class SubmissionJSON(RequestBody):
    """The source text of one Python file, at most 64 KiB of UTF-8."""

    source: Source


class RunJSON(SubmissionJSON):
    """A source as for an attempt. With `inputs`, it runs on those instead of the public cases."""

    inputs: OwnInputsJSON | None = None


class AttemptPage(View):
    """Newest first. For the next page, send `next` as `before`. It is null on the last page."""

    attempts: list[AttemptSummary]
    next: str | None


class ProblemProgressJSON(View):
    """Your progress at one problem. `best_score` is null until an attempt was graded with a score."""

    problem: str
    best_score: int | None
    accepted: bool


class ProgressJSON(View):
    """The problems that you have attempted, by slug."""

    problems: list[ProblemProgressJSON]

    @classmethod
    def of(cls, standings: dict[str, Standing]) -> "ProgressJSON":
        return cls(
            problems=[
                ProblemProgressJSON(problem=slug, best_score=standing.best_score, accepted=standing.accepted)
                for slug, standing in sorted(standings.items())
            ]
        )


class EventJSON(BaseModel):
    """A server-sent event. `data` is JSON text: `{"status", "phase"}`, or the whole attempt if `event` is `verdict`."""

    event: Literal["status", "verdict"]
    id: str
    data: str


class PlaceJSON(View):
    """The best accepted attempt of one user. Equal efficiency shares a place, and the next place stays free."""

    place: int
    name: str
    efficiency: float
    reached_at: datetime


class RankingJSON(View):
    """Best first. The reference's efficiency is 100. `own` is your place or null; `users` is how many are ranked."""

    problem: str
    places: list[PlaceJSON]
    own: PlaceJSON | None
    users: int

    @classmethod
    def at_problem(cls, problem: str, ranking: Ranking) -> "RankingJSON":
        return cls(
            problem=problem,
            places=[PlaceJSON.of(place) for place in ranking.places],
            own=None if ranking.own is None else PlaceJSON.of(ranking.own),
            users=ranking.users,
        )
