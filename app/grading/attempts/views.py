"""Attempts as their owners may see them, on pages and in REST: whole ones, and entries of lists."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from app.core.rest.body import RequestBody
from app.core.view import View
from app.grading.attempts.overrides import ScoreOverride
from app.grading.queue.models import AttemptRow
from app.grading.queue.status import AttemptKind, AttemptStatus, QueuePlace
from app.grading.queue.withheld_verdicts import Shown, Withholdable
from app.problems.catalogue import Catalogue
from app.problems.problem_texts import MetPitfall, met_pitfall
from grader.core.reasons import Reason
from grader.inputs.own_inputs import MAX_SEED, OwnInputs
from grader.program.measurement import mesh_name
from grader.verdicts.verdict import Status, Verdict


class AttemptSummary(Withholdable):
    """An attempt in a list: without its verdict, which can be long, but with the verdict's status.

    `changed_by_hand`: an instructor gave it this `score`. The attempt itself has the `override`. `version` is null
    until `withheld_until`.
    """

    id: Shown[str]
    problem: Shown[str]
    kind: Shown[AttemptKind]
    status: Shown[AttemptStatus]
    phase: str | None
    version: str | None
    verdict_status: Status | None
    # For pages, which name it.
    verdict_reason: Annotated[Reason | None, Field(exclude=True)]
    score: int | None
    created_at: Shown[datetime]
    started_at: Shown[datetime | None]
    finished_at: Shown[datetime | None]
    after_giving_up: Shown[bool]
    changed_by_hand: bool
    withheld_until: Shown[datetime | None]


class Rejudged(View):
    """Another version of the problem replaced the verdict: when, and what the score was before."""

    at: datetime
    score_before: int | None


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


class AttemptJSON(Withholdable):
    """One attempt or run. `verdict` is null until it has finished. The score of a run stays null.

    So does the score of an attempt that was sent `after_giving_up`: its verdict has points, but they do not count.
    `rejudged` is null unless another version of the problem replaced the verdict. `override` is null unless the points
    were changed by hand: `score` is then the new one, and the verdict has its own. `queue` is null unless it is queued.
    `inputs` is null unless it is a run on inputs that its author chose. `withheld_until` is null unless you sent it
    in an exam that has not closed: until then it has no verdict, no score, no phase and no version, even when it is
    `finished`. `variant` is null unless the problem has variants. `pitfall` is null unless an item of the statement's
    *Pitfalls* explains the verdict's misconception.
    """

    id: Shown[str]
    problem: Shown[str]
    kind: Shown[AttemptKind]
    status: Shown[AttemptStatus]
    phase: str | None
    # Not shown in an exam, because a rejudge that never lowers a score changes the version of some verdicts only.
    version: str | None
    variant: Shown[str | None]
    verdict: Verdict | None
    score: int | None
    created_at: Shown[datetime]
    started_at: Shown[datetime | None]
    finished_at: Shown[datetime | None]
    after_giving_up: Shown[bool]
    rejudged: Rejudged | None
    override: ScoreOverride | None
    queue: Shown[QueuePlace | None]
    inputs: Shown[OwnInputsJSON | None]
    withheld_until: Shown[datetime | None]
    pitfall: MetPitfall | None
    # For pages, and for graders, whose REST has it (SourcedAttemptJSON).
    source: SkipJsonSchema[Annotated[Shown[str], Field(exclude=True)]]

    @property
    def verdict_status(self) -> Status | None:
        return self.verdict.status if self.verdict else None

    @property
    def verdict_reason(self) -> Reason | None:
        return self.verdict.reason if self.verdict else None

    @property
    def changed_by_hand(self) -> bool:
        return self.override is not None


class AttemptViews:
    """Makes the views of stored attempts, with the fields that need more than the row. Safe to share between requests.

    What a problem says is read from the catalogue, as it is served now.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def of(
        self,
        row: AttemptRow,
        *,
        withheld_until: datetime | None,
        queue: QueuePlace | None = None,
        override: ScoreOverride | None = None,
    ) -> AttemptJSON:
        """A stored attempt as its owner may see it: until `withheld_until`, only the fields that are marked `Shown`."""
        attempt = AttemptJSON.read_from(
            row,
            rejudged=None if row.rejudged_at is None else Rejudged(at=row.rejudged_at, score_before=row.score_before),
            override=override,
            queue=queue,
            inputs=OwnInputsJSON.of(OwnInputs(**row.own_inputs)) if row.own_inputs else None,
            pitfall=self._pitfall(row),
            withheld_until=None,
        )
        return attempt if withheld_until is None else attempt.withheld(withheld_until)

    def _pitfall(self, row: AttemptRow) -> MetPitfall | None:
        misconception = (row.verdict or {}).get("misconception")
        return met_pitfall(self._catalogue, row.problem, row.variant, misconception)
