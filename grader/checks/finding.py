"""The result of a check, and how a statement speaks of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from grader.evidence import Evidence
from grader.reasons import Reason


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check. `reason` is None exactly when it passed.

    `checked` is False if this machine cannot check it, as without the compiler for TPUs. It then counts as passed.
    """

    passed: bool
    message: str
    reason: Reason | None = None
    evidence: Sequence[Evidence] = ()
    checked: bool = True


@dataclass(frozen=True, slots=True)
class StatementWords:
    """How a statement speaks of a check, as regular expressions.

    Args:
      naming: matches a statement that says what the check grades, in upper or lower case.
      promising: matches a statement that requires what only this check can see; None if no words are sure to.
    """

    naming: str
    promising: str | None = None
