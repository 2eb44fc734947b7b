"""The result of a check."""

from collections.abc import Sequence
from dataclasses import dataclass

from grader.core.reasons import Reason
from grader.verdicts.evidence import Evidence


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check. `reason` is None if and only if it passed.

    `checked` is False if this machine cannot check it, such as without the TPU compiler. It then counts as passed.
    """

    passed: bool
    message: str
    reason: Reason | None = None
    evidence: Sequence[Evidence] = ()
    checked: bool = True
