"""What the judge says of a submission: one closed shape, the same in REST, the CLI and the database."""

from typing import Any, Literal

from pydantic import ConfigDict, Field

from grader.closed import Closed
from grader.evidence import Evidence
from grader.reasons import Reason

Status = Literal["accepted", "rejected", "failed"]
Trust = Literal["verified", "observed"]
Mode = Literal["call", "program"]


class CheckResult(Closed):
    """One graded property. `evidence` is data for pages to draw from, never needed to understand `message`."""

    id: str
    title: str
    passed: bool
    points: int = Field(ge=0)
    max_points: int = Field(ge=0)
    trust: Trust
    message: str
    evidence: list[Evidence] = Field(default_factory=list)


class CaseResult(Closed):
    """One input. The message of a hidden case names the kind of fault and holds no value."""

    id: str
    public: bool
    passed: bool
    message: str


class Timings(Closed):
    """Milliseconds of wall clock that an attempt spent at each station."""

    queued: int = 0
    import_: int = Field(default=0, alias="import")
    run: int = 0
    verify: int = 0
    total: int = 0

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, populate_by_name=True, serialize_by_alias=True)


class EfficiencyPart(Closed):
    """One cost of a verified program beside the reference's, summed over the meshes it was compiled for."""

    name: Literal["ring_bytes", "temporary_bytes", "dot_flops"]
    mine: int = Field(ge=0)
    reference: int = Field(ge=0)
    ratio: float = Field(ge=0, allow_inf_nan=False)


class Efficiency(Closed):
    """What an accepted program costs, read off the program and never from a clock, so the same on every machine.

    `score` is 100 / the mean of the parts' ratios: the reference has 100, and more is better.
    """

    score: float = Field(gt=0, allow_inf_nan=False)
    parts: list[EfficiencyPart]


class Verdict(Closed):
    """All the judge says.

    `score` is the points of the passed checks (0 to 100), 0 when a value is wrong, and `None` for a run, which
    is not scored. `misconception` names the misunderstanding when the output equals that of a known wrong submission.
    `environment` is the configuration of JAX that this was graded under, the reference's as well.
    """

    # Of the stored form: grader/stored_verdict.py reads every older one.
    schema_version: Literal[2] = 2
    problem: str
    version: str
    status: Status
    reason: Reason | None
    score: int | None
    checks: list[CheckResult]
    cases: list[CaseResult]
    misconception: str | None = None
    stdout: str = ""
    stderr: str = ""
    truncated: bool = False
    walls: list[str]
    environment: dict[str, Any] = Field(default_factory=dict)
    efficiency: Efficiency | None = None
    timings_ms: Timings = Field(default_factory=Timings)
