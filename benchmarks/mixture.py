"""Submissions whose verdict is known: those of the problems, honest and wrong, and the attacks of the hostile suite."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.workload import CHECKOUT, SLUG
from grader.package.package import Package
from grader.package.reader import read_package
from grader.verdict import Verdict

_HOSTILE = CHECKOUT / "tests" / "hostile" / "submissions"
_SMALLEST = CHECKOUT / "tests" / "grader" / "packages" / "add_one"
_EXPECTATION = re.compile(r'"""expect: ([a-z_/| ]+)')


@dataclass(frozen=True, slots=True)
class Known:
    """`expected` holds every verdict that is right for it: `accepted`, `rejected`, or `rejected/<reason>`."""

    name: str
    package: Package
    source: str
    expected: frozenset[str]

    def fits(self, verdict: Verdict) -> bool:
        return bool(self.expected & {verdict.status, f"{verdict.status}/{verdict.reason}"})


def honest() -> list[Known]:
    """What ships with the problem: accepted, and rejected for a reason that is known."""
    package = read_package(CHECKOUT / "problems" / SLUG)
    return [
        Known(
            f"{SLUG}/{known.name}",
            package,
            known.source,
            frozenset({f"rejected/{known.reason}" if known.reason else "accepted"}),
        )
        for known in (*package.accepted, *package.rejected)
    ]


def hostile() -> list[Known]:
    """The attacks, by the expectation in their first line. Those that need a partner at the same time are left out."""
    if not _HOSTILE.is_dir():
        return []
    package = read_package(_SMALLEST)
    found = []
    for path in sorted(_HOSTILE.rglob("*.py")):
        # Some of them are not text on purpose; those cannot be a submission of the judge's, only of the service's.
        source = path.read_bytes().decode("utf-8", "replace")
        first = source.partition("\n")[0]
        if (stated := _EXPECTATION.match(first)) and "pair:" not in first:
            found.append(Known(f"hostile/{path.stem}", package, source, _outcomes(stated[1])))
    return found


def mixed(count: int) -> Iterator[Known]:
    """`count` of them in a fixed order, honest and hostile in turn, each kind from its beginning when it is used up."""
    kinds = [kind for kind in (honest(), hostile()) if kind]
    turns = itertools.chain.from_iterable(zip(*map(itertools.cycle, kinds), strict=True))
    return itertools.islice(turns, count)


def _outcomes(stated: str) -> frozenset[str]:
    """`rejected/killed|error` is either of two reasons."""
    status, _, reasons = stated.strip().partition("/")
    if not reasons:
        return frozenset(part.strip() for part in status.split("|"))
    return frozenset(f"{status}/{reason.strip().removeprefix(f'{status}/')}" for reason in reasons.split("|"))
