"""The judge's verdict on a submission: one closed schema, the same in REST, the CLI and the database."""

from typing import Literal, Self

from pydantic import ConfigDict, Field, PrivateAttr

from grader.core.reasons import Reason
from grader.core.strict_model import SafeText, StrictModel
from grader.verdicts.evidence import Evidence
from grader.verdicts.fingerprint import Fingerprint

Status = Literal["accepted", "rejected", "failed"]
Trust = Literal["verified", "observed"]
Mode = Literal["call", "program", "answer"]


class CheckResult(StrictModel):
    """One graded property. `evidence` is data for drawings; `message` is complete without it.

    `headlines` say in one sentence per fault what is wrong, without meshes and cases. A check that passed has none.

    `checked` is false if the grader cannot check it here, such as without the compiler for a chip; it then counts as
    passed.
    """

    id: SafeText
    title: SafeText
    passed: bool
    checked: bool = True
    points: int = Field(ge=0)
    max_points: int = Field(ge=0)
    trust: Trust
    message: SafeText
    headlines: list[SafeText] = Field(default_factory=list)
    evidence: list[Evidence] = Field(default_factory=list)


class CaseResult(StrictModel):
    """One input. The message of a hidden case names the kind of fault and contains no value."""

    id: SafeText
    public: bool
    passed: bool
    message: SafeText


class Timings(StrictModel):
    """Wall-clock time of each stage of an attempt, in milliseconds."""

    queued: int = 0
    import_: int = Field(default=0, alias="import")
    run: int = 0
    verify: int = 0
    total: int = 0

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, populate_by_name=True, serialize_by_alias=True)


CostName = Literal["ring_bytes", "temporary_bytes", "dot_flops"]


class EfficiencyPart(StrictModel):
    """One cost of a verified program and of the reference, summed over all meshes."""

    name: CostName
    mine: int = Field(ge=0)
    reference: int = Field(ge=0)
    ratio: float = Field(ge=0, allow_inf_nan=False)


class Efficiency(StrictModel):
    """The cost of an accepted program, read from the program instead of a clock, so it is the same on every machine.

    `score` is 100 divided by the mean of the parts' ratios: the reference scores 100, and more is better.
    """

    score: float = Field(gt=0, allow_inf_nan=False)
    parts: list[EfficiencyPart]


class Verdict(StrictModel):
    """Everything that the judge reports about an attempt.

    `score` is the sum of the checks' points (0 to 100), and `None` for a run, which has no score. If a value is wrong,
    it is 0, or the points of the right answers in mode answer. `misconception` is the misunderstanding of a known wrong
    submission that makes the same mistake. `environment` is the configuration of JAX that both the submission and the
    reference ran with. `variant` is the one that was graded, of a problem that has some.
    """

    # The version of the stored form. Another one is refused.
    schema_version: Literal[2] = 2
    problem: SafeText
    version: SafeText
    # This is left out of the verdicts of problems without variants.
    variant: SafeText | None = Field(default=None, exclude_if=lambda value: value is None)
    status: Status
    reason: Reason | None
    score: int | None
    checks: list[CheckResult]
    cases: list[CaseResult]
    misconception: SafeText | None = None
    stdout: SafeText = ""
    stderr: SafeText = ""
    truncated: bool = False
    walls: list[SafeText]
    environment: dict[str, object] = Field(default_factory=dict)
    efficiency: Efficiency | None = None
    timings_ms: Timings = Field(default_factory=Timings)
    # It is only used to recognise the mistake, so it is not sent or stored with the rest.
    _fingerprint: Fingerprint | None = PrivateAttr(default=None)

    @property
    def fingerprint(self) -> Fingerprint | None:
        """The fingerprint of a rejected submission, if it has a result or a program."""
        return self._fingerprint

    def with_fingerprint(self, fingerprint: Fingerprint | None) -> Self:
        """Remember the fingerprint, and return this verdict."""
        self._fingerprint = fingerprint
        return self
