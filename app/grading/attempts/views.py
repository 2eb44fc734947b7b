"""Attempts as their owners may see them: whole ones, and entries of lists."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, cast

from pydantic import Field

from app.core.view import View
from app.grading.attempts.overrides import ScoreOverride
from app.grading.queue.models import AttemptRow
from app.grading.queue.status import AttemptKind, AttemptStatus, QueuePlace
from app.grading.queue.withheld_verdicts import SHOWN, shown_part
from grader.core.reasons import Reason
from grader.inputs.own_inputs import OwnInputs
from grader.verdicts.verdict import Status, Verdict


class AttemptSummary(View):
    """An attempt in a list: without its verdict, which can be long, but with the verdict's status.

    `changed_by_hand`: an instructor gave it this `score`. The attempt itself has the `override`. `version` is null
    until `withheld_until`.
    """

    id: str
    problem: str
    kind: AttemptKind
    status: AttemptStatus
    phase: str | None
    version: str | None
    verdict_status: Status | None
    # For pages, which name it.
    verdict_reason: Annotated[Reason | None, Field(exclude=True)]
    score: int | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    after_giving_up: bool
    changed_by_hand: bool
    withheld_until: datetime | None


class Rejudged(View):
    """Another version of the problem replaced the verdict: when, and what the score was before."""

    at: datetime
    score_before: int | None


@dataclass(frozen=True, slots=True)
class AttemptView:
    """One attempt as its owner may see it. `score` is None for a run, after giving up, and until there is one.

    `queue` is its place while it is queued. Lists never include it. `own_inputs` are those of a run whose author
    chose them. `withheld_until`: it was sent in an exam, and until then its owner sees only what
    app/grading/queue/withheld_verdicts.py lists, so neither verdict nor score, and `version` is None.
    `override`: the score is not that of the verdict.
    """

    id: str
    problem: str
    kind: AttemptKind
    status: AttemptStatus
    phase: str | None
    version: str | None
    variant: str | None
    source: str
    verdict: Verdict | None
    score: int | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    after_giving_up: bool
    rejudged: Rejudged | None = None
    queue: QueuePlace | None = None
    own_inputs: OwnInputs | None = None
    withheld_until: datetime | None = None
    override: ScoreOverride | None = None

    @property
    def verdict_status(self) -> Status | None:
        return self.verdict.status if self.verdict else None

    @property
    def verdict_reason(self) -> Reason | None:
        return self.verdict.reason if self.verdict else None

    @property
    def changed_by_hand(self) -> bool:
        return self.override is not None


def withheld_summary(summary: AttemptSummary, until: datetime) -> AttemptSummary:
    """The entry as its author sees it before `until`, when its exam closes: with no field that is not in `SHOWN`."""
    shown = {name: getattr(summary, name) for name in AttemptSummary.model_fields if name in SHOWN}
    hidden: dict[str, Any] = dict.fromkeys(AttemptSummary.model_fields.keys() - SHOWN)
    return AttemptSummary(**(hidden | {"changed_by_hand": False, "withheld_until": until}), **shown)


def view_of(
    row: AttemptRow,
    queue: QueuePlace | None = None,
    *,
    override: ScoreOverride | None = None,
    withheld_until: datetime | None = None,
) -> AttemptView:
    """A stored attempt as its owner may see it: until `withheld_until`, only its columns in `SHOWN`."""
    if withheld_until is not None:
        row, override = shown_part(row), None
    return AttemptView(
        id=row.id,
        problem=row.problem,
        kind=cast(AttemptKind, row.kind),
        status=cast(AttemptStatus, row.status),
        phase=row.phase,
        version=row.version,
        variant=row.variant,
        source=row.source,
        verdict=None if row.verdict is None else Verdict.model_validate(row.verdict),
        score=row.score,
        created_at=row.created_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
        after_giving_up=row.after_giving_up,
        rejudged=None if row.rejudged_at is None else Rejudged(at=row.rejudged_at, score_before=row.score_before),
        queue=queue,
        own_inputs=OwnInputs(**row.own_inputs) if row.own_inputs else None,
        withheld_until=withheld_until,
        override=override,
    )
