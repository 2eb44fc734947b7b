"""REST bodies and responses for attempts."""

from datetime import datetime
from typing import Any, Literal, Self

from pydantic import BaseModel, Field

from app.core.rest.body import RequestBody
from app.core.view import View
from app.grading.attempts.overrides import ScoreOverride
from app.grading.attempts.progress import Standing
from app.grading.attempts.ranking import Ranking
from app.grading.attempts.source_rules import Source
from app.grading.attempts.views import AttemptSummary, AttemptView, Rejudged
from app.grading.queue.status import AttemptKind, AttemptStatus, QueuePlace
from grader.inputs.own_inputs import MAX_SEED, OwnInputs
from grader.program.measurement import mesh_name
from grader.verdicts.verdict import Verdict


class SubmissionJSON(RequestBody):
    """The source text of one Python file, at most 64 KiB of UTF-8."""

    source: Source


class OwnInputsJSON(RequestBody):
    """Inputs that the author of a run chose. `mesh` names one of the problem's, such as `fsdp=8`; null for all.

    `values` has typed arguments of `call` mode: a number, or nested lists of numbers for an array.
    """

    seed: int = Field(ge=0, le=MAX_SEED)
    mesh: str | None = None
    values: dict[str, Any] | None = None

    @classmethod
    def of(cls, own: OwnInputs) -> "OwnInputsJSON":
        return cls(seed=own.seed, mesh=mesh_name(own.mesh) if own.mesh else None, values=own.values)


class RunJSON(SubmissionJSON):
    """A source as for an attempt. With `inputs`, it runs on those instead of the public cases."""

    inputs: OwnInputsJSON | None = None


class AttemptJSON(View):
    """One attempt or run. `verdict` is null until it has finished. The score of a run stays null.

    So does the score of an attempt that was sent `after_giving_up`: its verdict has points, but they do not count.
    `rejudged` is null unless another version of the problem replaced the verdict. `override` is null unless the points
    were changed by hand: `score` is then the new one, and the verdict has its own. `queue` is null unless it is queued.
    `inputs` is null unless it is a run on inputs that its author chose. `withheld_until` is null unless you sent it
    in an exam that has not closed: until then it has no verdict, no score, no phase and no version, even when it is
    `finished`. `variant` is null unless the problem has variants.
    """

    id: str
    problem: str
    kind: AttemptKind
    status: AttemptStatus
    phase: str | None
    version: str | None
    variant: str | None
    verdict: Verdict | None
    score: int | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    after_giving_up: bool
    rejudged: Rejudged | None
    override: ScoreOverride | None
    queue: QueuePlace | None
    inputs: OwnInputsJSON | None
    withheld_until: datetime | None

    @classmethod
    def of(cls, view: AttemptView) -> Self:
        nested: dict[str, Any] = {
            "inputs": view.own_inputs and OwnInputsJSON.of(view.own_inputs),
            "rejudged": view.rejudged and view.rejudged,
            "override": view.override and view.override,
            "queue": view.queue and view.queue,
        }
        fields = {name: getattr(view, name) for name in cls.model_fields if name not in nested}
        return cls(**fields, **nested)


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
