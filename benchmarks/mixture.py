"""Submissions with known verdicts: those of the problem, right and wrong, and the attacks of the hostile suite."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.workload import CALL_SLUG, CHECKOUT
from grader.package.package import Package
from grader.review.reader import read_package
from grader.verdicts.verdict import Verdict
from tests.hostile.attack import read_corpus

_TARGET = re.compile(r"@[a-z_]+@")
_SMALLEST = CHECKOUT / "tests" / "grader" / "packages" / "add_one"


@dataclass(frozen=True, slots=True)
class Known:
    """`expected` contains every right (status, reason); a reason of None means any reason."""

    name: str
    package: Package
    source: str
    expected: frozenset[tuple[str, str | None]]

    def fits(self, verdict: Verdict) -> bool:
        return (verdict.status, verdict.reason) in self.expected or (verdict.status, None) in self.expected

    def expectation(self) -> str:
        """The expected verdicts, for a message."""
        return " or ".join(sorted(f"{status}/{reason}" if reason else status for status, reason in self.expected))


def honest() -> list[Known]:
    """The submissions that ship with the problem: accepted ones, and ones rejected for a known reason."""
    package = read_package(CHECKOUT / "problems" / CALL_SLUG)
    return [
        Known(
            f"{CALL_SLUG}/{known.name}",
            package,
            known.source,
            frozenset({("rejected" if known.reason else "accepted", known.reason)}),
        )
        for known in (*package.accepted, *package.rejected)
    ]


def hostile() -> list[Known]:
    """The attacks, without those that need a simultaneous partner or a target that only the tests set up."""
    package = read_package(_SMALLEST)
    return [
        Known(f"hostile/{attack.name}", package, attack.source(), attack.expected)
        for attack in read_corpus()
        if attack.pair is None and not _TARGET.search(attack.source())
    ]


def mixed(count: int) -> Iterator[Known]:
    """Yield `count` submissions in a fixed order, honest and hostile in turn. Each kind starts again when used up."""
    turns = itertools.chain.from_iterable(zip(itertools.cycle(honest()), itertools.cycle(hostile()), strict=True))
    return itertools.islice(turns, count)
