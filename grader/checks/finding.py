"""What a check says."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from grader.evidence import Evidence
from grader.reasons import Reason


@dataclass(frozen=True, slots=True)
class Finding:
    """A check's answer. `reason` is None exactly when it passed."""

    passed: bool
    message: str
    reason: Reason | None = None
    evidence: Sequence[Evidence] = ()


class Bounds(BaseModel):
    """What a problem.toml may set of a check, beside its id, points and title: nothing, unless a check says more."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
