"""REST bodies and responses for attempts."""

from datetime import datetime
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from app.attempts.overrides import ScoreOverride
from app.attempts.ranking import Place, Ranking
from app.attempts.source import Source
from app.attempts.standing import Standing
from app.attempts.views import AttemptSummary, AttemptView, Rejudged
from app.queue.status import AttemptKind, AttemptStatus
from app.queue.turns import QueuePlace
from grader.own import MAX_SEED, OwnInputs
from grader.program.measured import mesh_name
from grader.verdict import Status, Verdict

EXAMPLE_SOURCE = "from flax import nnx\nimport optax\n\n\ndef fsdp_step(seed, x, y, num_shards, lr):\n    ...\n"

EXAMPLE_QUEUED: dict[str, Any] = {
    "id": "8c2f6e1d9b7a4f5e8d3c2b1a0f9e8d7c",
    "problem": "fsdp_step",
    "kind": "attempt",
    "status": "queued",
    "phase": None,
    "version": "3b9f4c0a7d2e",
    "verdict": None,
    "score": None,
    "created_at": "2026-01-05T09:30:00.000000Z",
    "started_at": None,
    "finished_at": None,
    "after_giving_up": False,
    "rejudged": None,
    "override": None,
    "queue": {"ahead": 3, "expected_wait_s": 12, "workers": 2},
    "inputs": None,
    "withheld_until": None,
}
EXAMPLE_FINISHED: dict[str, Any] = EXAMPLE_QUEUED | {
    "status": "finished",
    "queue": None,
    "score": 100,
    "started_at": "2026-01-05T09:30:00.004000Z",
    "finished_at": "2026-01-05T09:30:01.900000Z",
    "verdict": {
        "schema_version": 2,
        "problem": "fsdp_step",
        "version": "3b9f4c0a7d2e",
        "status": "accepted",
        "reason": None,
        "score": 100,
        "checks": [
            {
                "id": "values",
                "title": "Every value is correct",
                "passed": True,
                "points": 100,
                "max_points": 100,
                "trust": "verified",
                "message": "All 10 cases match the reference.",
                "evidence": [{"kind": "tolerances", "by_dtype": {"float32": {"rtol": 1e-5, "atol": 1e-6}}}],
            }
        ],
        "cases": [{"id": "public-1", "public": True, "passed": True, "message": "correct"}],
        "misconception": None,
        "stdout": "",
        "stderr": "",
        "truncated": False,
        "walls": ["namespaces", "landlock", "seccomp", "rlimits", "memory"],
        "environment": {"jax": "0.10.2", "devices": 8, "platform": "cpu", "x64": False},
        "efficiency": None,
        "timings_ms": {"queued": 4, "import": 310, "run": 1120, "verify": 0, "total": 1896},
    },
}

_NOT_IN_LISTS = ("verdict", "rejudged", "override", "queue", "inputs")
EXAMPLE_SUMMARY: dict[str, Any] = {
    name: value for name, value in EXAMPLE_FINISHED.items() if name not in _NOT_IN_LISTS
} | {"verdict_status": "accepted", "changed_by_hand": False}


class SubmissionJSON(BaseModel):
    """The source text of one Python file, at most 64 KiB of UTF-8."""

    model_config = ConfigDict(strict=True, extra="forbid", json_schema_extra={"examples": [{"source": EXAMPLE_SOURCE}]})

    source: Source


class OwnInputsJSON(BaseModel):
    """Inputs that the author of a run chose. `mesh` names one of the problem's, such as `fsdp=8`; null for all.

    `values` has typed arguments of mode `call`: a number, or nested lists of numbers for an array.
    """

    model_config = ConfigDict(strict=True, extra="forbid")

    seed: int = Field(ge=0, le=MAX_SEED)
    mesh: str | None = None
    values: dict[str, Any] | None = None

    @classmethod
    def of(cls, own: OwnInputs) -> "OwnInputsJSON":
        return cls(seed=own.seed, mesh=mesh_name(own.mesh) if own.mesh else None, values=own.values)


class RunJSON(SubmissionJSON):
    """A source as for an attempt. With `inputs`, it runs on those instead of the public cases."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        json_schema_extra={
            "examples": [{"source": EXAMPLE_SOURCE, "inputs": {"seed": 7, "mesh": None, "values": None}}]
        },
    )

    inputs: OwnInputsJSON | None = None


class QueueJSON(BaseModel):
    """How many attempts are ahead, about how long they will take (null before anything was ever graded), and how many
    workers can grade at the moment. A server that grades is one of them.
    """

    model_config = ConfigDict(extra="forbid")

    ahead: int
    expected_wait_s: int | None
    workers: int

    @classmethod
    def of(cls, place: QueuePlace) -> "QueueJSON":
        return cls(ahead=place.ahead, expected_wait_s=place.expected_wait_s, workers=place.workers)


class RejudgedJSON(BaseModel):
    """Another version of the problem replaced the verdict: when, and what the score was before."""

    model_config = ConfigDict(extra="forbid")

    at: datetime
    score_before: int | None

    @classmethod
    def of(cls, rejudged: Rejudged) -> "RejudgedJSON":
        return cls(at=rejudged.at, score_before=rejudged.score_before)


class OverrideJSON(BaseModel):
    """Points that `by` gave by hand, and those of the verdict; null if it has none. `by` is null once the account is
    deleted."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "score": 80,
                    "score_before": 40,
                    "by": "tess",
                    "at": "2026-01-06T14:05:00.000000Z",
                    "reason": "the statement did not name this rule",
                }
            ]
        },
    )

    score: int
    score_before: int | None
    by: str | None
    at: datetime
    reason: str

    @classmethod
    def of(cls, override: ScoreOverride) -> "OverrideJSON":
        return cls(**{name: getattr(override, name) for name in cls.model_fields})


class AttemptJSON(BaseModel):
    """One attempt or run. `verdict` is null until it has finished. The score of a run stays null.

    So does the score of an attempt that was sent `after_giving_up`: its verdict has points, but they do not count.
    `rejudged` is null unless another version of the problem replaced the verdict. `override` is null unless the points
    were changed by hand: `score` is then the new one, and the verdict has its own. `queue` is null unless it is queued.
    `inputs` is null unless it is a run on inputs that its author chose. `withheld_until` is null unless you sent it
    in an exam that has not closed: until then it has no verdict and no score, even when it is `finished`.
    """

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [EXAMPLE_FINISHED]})

    id: str
    problem: str
    kind: AttemptKind
    status: AttemptStatus
    phase: str | None
    version: str
    verdict: Verdict | None
    score: int | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    after_giving_up: bool
    rejudged: RejudgedJSON | None
    override: OverrideJSON | None
    queue: QueueJSON | None
    inputs: OwnInputsJSON | None
    withheld_until: datetime | None

    @classmethod
    def of(cls, view: AttemptView) -> Self:
        nested: dict[str, Any] = {
            "inputs": view.own_inputs and OwnInputsJSON.of(view.own_inputs),
            "rejudged": view.rejudged and RejudgedJSON.of(view.rejudged),
            "override": view.override and OverrideJSON.of(view.override),
            "queue": view.queue and QueueJSON.of(view.queue),
        }
        fields = {name: getattr(view, name) for name in cls.model_fields if name not in nested}
        return cls(**fields, **nested)


class AttemptSummaryJSON(BaseModel):
    """An attempt in a list: without its verdict, which can be long, but with the verdict's status.

    `changed_by_hand`: an instructor gave it this `score`. The attempt itself has the `override`.
    """

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [EXAMPLE_SUMMARY]})

    id: str
    problem: str
    kind: AttemptKind
    status: AttemptStatus
    phase: str | None
    version: str
    verdict_status: Status | None
    score: int | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    after_giving_up: bool
    changed_by_hand: bool
    withheld_until: datetime | None

    @classmethod
    def of(cls, summary: AttemptSummary) -> "AttemptSummaryJSON":
        return cls(**{name: getattr(summary, name) for name in cls.model_fields})


class AttemptPage(BaseModel):
    """Newest first. For the next page, send `next` as `before`. It is null on the last page."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"attempts": [EXAMPLE_SUMMARY], "next": None}]}
    )

    attempts: list[AttemptSummaryJSON]
    next: str | None


class ProblemProgressJSON(BaseModel):
    """Your progress at one problem. `best_score` is null until an attempt was graded with a score."""

    model_config = ConfigDict(extra="forbid")

    problem: str
    best_score: int | None
    accepted: bool


class ProgressJSON(BaseModel):
    """The problems that you have attempted, by slug."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"problems": [{"problem": "fsdp_step", "best_score": 100, "accepted": True}]}]},
    )

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


_PLACE: dict[str, Any] = {
    "place": 1,
    "name": "ada",
    "efficiency": 104.2,
    "reached_at": "2026-01-05T09:30:00.000000Z",
}


class PlaceJSON(BaseModel):
    """The best accepted attempt of one user. Equal efficiency shares a place, and the next place stays free."""

    model_config = ConfigDict(extra="forbid")

    place: int
    name: str
    efficiency: float
    reached_at: datetime

    @classmethod
    def of(cls, place: Place) -> "PlaceJSON":
        return cls(place=place.place, name=place.name, efficiency=place.efficiency, reached_at=place.reached_at)


class RankingJSON(BaseModel):
    """Best first. The reference's efficiency is 100. `own` is your place or null; `users` is how many are ranked."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"problem": "fsdp_forward", "places": [_PLACE], "own": _PLACE | {"place": 7}, "users": 31}]
        },
    )

    problem: str
    places: list[PlaceJSON]
    own: PlaceJSON | None
    users: int

    @classmethod
    def of(cls, problem: str, ranking: Ranking) -> "RankingJSON":
        return cls(
            problem=problem,
            places=[PlaceJSON.of(place) for place in ranking.places],
            own=None if ranking.own is None else PlaceJSON.of(ranking.own),
            users=ranking.users,
        )
