"""The result of a check."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from grader.core.reasons import Reason
from grader.verdicts.evidence import Evidence

# Matches a number, or a number of bytes.
_AMOUNT = re.compile(r"\d[\d.,]*(?: (?:[KMGT]i)?B\b)?")


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check. `reason` is None if and only if it passed.

    `checked` is False if this machine cannot check it, for example because a chip's compiler is missing. It then counts
    as passed.
    `headlines` say in one plain sentence per fault what is wrong; `message` is complete without them.
    `points` are what a check that did not pass still earns for right answers.
    """

    passed: bool
    message: str
    reason: Reason | None = None
    evidence: Sequence[Evidence] = ()
    checked: bool = True
    headlines: Sequence[str] = ()
    points: int = 0


@dataclass(frozen=True, slots=True)
class Located:
    """A fault, and where it is: `text` begins in lower case and continues `where`, such as `On mesh x=8, `."""

    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.where}{self.text}" if self.where else _capitalized(self.text)

    @property
    def headline(self) -> str:
        """The first sentence of `text`, which says what is wrong, without the place."""
        first, _, rest = self.text.partition(". ")
        return _capitalized(f"{first}." if rest else first)


def _capitalized(text: str) -> str:
    """Begin a sentence. A name such as optimizer.update stays as it is."""
    return f"{text[:1].upper()}{text[1:]}" if text.partition(" ")[0].isalpha() else text


def rejected(
    faults: Sequence[Located], reason: Reason, evidence: Sequence[Evidence], shown: int | None = None
) -> Finding:
    """Name the first `shown` faults, one per line. Those that differ only in numbers share a headline."""
    headlines: dict[str, str] = {}
    for each in faults[:shown]:
        headlines.setdefault(_AMOUNT.sub("#", each.headline), each.headline)
    message = "\n".join(map(str, faults[:shown]))
    return Finding(False, message, reason, evidence, headlines=tuple(headlines.values()))
