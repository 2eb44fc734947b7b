"""Check how many matrix products the compiled program contains, however often the loops around them run."""

from collections import Counter

from pydantic import Field

from grader.checks.finding import Finding, Located, rejected
from grader.checks.program_subject import Subject
from grader.checks.wording import Wording
from grader.core.reasons import Reason
from grader.package.package import CheckBounds, ProgramManifest
from grader.program.census import Census
from grader.verdicts.evidence import Amount, Amounts
from grader.verdicts.verdict import Trust

TITLE = "Size of the program"
TRUST: Trust = "verified"
PROMISE = r"\bprogram(?:'s size)? .{0,40}\bdoes not (?:grow|depend)\b"
_WHY = (
    "A Python loop is unrolled while it is traced, even if it calls a jitted function, so the program has a copy of "
    "its body for each round. `jax.lax.scan`, `nnx.scan` and `jax.lax.fori_loop` stay loops, with one body."
)


class Bounds(CheckBounds):
    """A multiple of the matrix products that the reference's program contains: 2 allows a loop with `unroll=2`."""

    at_most: float = Field(default=1.0, ge=1)


def describe(bounds: Bounds, manifest: ProgramManifest) -> Wording:
    """Describe the bounds in words; see `Wording`."""
    times = "as many matrix products as" if bounds.at_most == 1 else f"{bounds.at_most:g} times the matrix products of"
    return Wording(
        (f"the compiled program contains at most {times} the reference, and a loop's body counts once",),
        (f"matrix products in the program, a loop's body once: at most {bounds.at_most:g} times the reference's",),
    )


def check(subject: Subject, bounds: Bounds) -> Finding:
    """Pass if the program contains few enough matrix products on every mesh."""
    evidence: list[Amounts] = []
    faults: list[tuple[Reason, Located]] = []
    for pair in subject.pairs:
        mine, reference = _products(pair.mine.facts.census), _products(pair.reference.facts.census)
        at_most = int(reference * bounds.at_most)
        evidence.append(
            Amounts(
                **subject.entry(pair),
                title="Matrix products in the program",
                unit="products",
                whole_title="undivided",
                rows=[Amount(name="matrix products", mine=mine, reference=reference, whole=None, at_most=at_most)],
            )
        )
        if mine > at_most:
            message = (
                f"the compiled program contains {mine} matrix products; expected at most {at_most}, however large the "
                f"inputs are.{_most_copies(pair.mine.facts.census)} {_WHY}"
            )
            faults.append(("program_too_large", Located(f"On {subject.place(pair)}, ", message)))
    if faults:
        reason, first = faults[0]
        return rejected([first], reason, evidence)
    count = evidence[0].rows[0].mine or 0
    return Finding(True, f"The compiled program contains {count} matrix products.", None, evidence)


def _most_copies(census: Census) -> str:
    """The line of the submission with the most products, if it has several."""
    lines = Counter(dot.source_line for dot in census.dots if dot.source_line is not None)
    line, copies = max(lines.items(), key=lambda entry: entry[1], default=(0, 0))
    return f" {copies} of them are from line {line}." if copies > 1 else ""


def _products(census: Census) -> int:
    """Count the matrix products in the program text, including those written as a multiplication and a sum."""
    return len(census.dots) + len(census.summed_products)
