"""How well each case and each check separates people who get the others right from those who do not.

The index is the item-rest correlation: the point-biserial correlation, over people, between passing one item and how
many of the others they pass. S. Henrysson, "Correction of item-total correlations in item analysis", Psychometrika 28
(1963), 211-218, says why the item itself must not be part of the total. Cases are compared with the other cases, and
checks with the other checks. Only each person's first attempt that ran counts: later ones know its verdict.
"""

from collections.abc import Container, Sequence
from statistics import correlation
from typing import Literal

from app.core.view import View
from app.teaching.insight.attempt_facts import AttemptFacts

# With fewer people, the standard error of a correlation, about 1 / sqrt(n), is above 0.22: noise looks like a finding.
FEWEST = 20

ItemKind = Literal["case", "check"]
WithoutIndex = Literal["too-few", "all-pass", "none-passes", "others-constant"]


class Discrimination(View):
    """How an item separates people: `passed` of `people` pass it at their first attempt that ran.

    `index` is the correlation, from -1 to 1, between passing it and how many other cases or checks they pass. It is
    null for the reason in `without`.
    """

    kind: ItemKind
    name: str
    people: int
    passed: int
    index: float | None
    without: WithoutIndex | None


def discriminations(
    facts: Sequence[AttemptFacts], versions: Container[str], cases: Sequence[str], checks: Sequence[str]
) -> tuple[Discrimination, ...]:
    """Cases first, each in the order of the verdict. `facts` are in the order of time; those at `versions` count."""
    first: dict[str, AttemptFacts] = {}
    for each in facts:
        if each.version in versions and (each.is_accepted or (each.is_rejected and _ran(each))):
            first.setdefault(each.user_id, each)
    attempts = list(first.values())
    return (
        *_items("case", cases, [frozenset(each.failed_cases) for each in attempts]),
        *_items("check", checks, [frozenset(each.failed_checks) for each in attempts]),
    )


def _ran(attempt: AttemptFacts) -> bool:
    """Whether cases and checks were measured at all. If the values are wrong, a case says where."""
    return "values" not in attempt.failed_checks or bool(attempt.failed_cases)


def _items(kind: ItemKind, names: Sequence[str], failed: Sequence[frozenset[str]]) -> list[Discrimination]:
    totals = [sum(name not in each for name in names) for each in failed]
    found = []
    for name in names:
        passes = [int(name not in each) for each in failed]
        rest = [total - it for total, it in zip(totals, passes, strict=True)]
        index, without = _index(passes, rest)
        found.append(
            Discrimination(kind=kind, name=name, people=len(passes), passed=sum(passes), index=index, without=without)
        )
    return found


def _index(passes: Sequence[int], rest: Sequence[int]) -> tuple[float | None, WithoutIndex | None]:
    if len(passes) < FEWEST:
        return None, "too-few"
    if all(passes):
        return None, "all-pass"
    if not any(passes):
        return None, "none-passes"
    if len(set(rest)) == 1:
        return None, "others-constant"
    # Rounding must not make it greater than 1.
    return max(-1.0, min(1.0, correlation(passes, rest))), None
