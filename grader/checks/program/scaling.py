"""Check that bytes and FLOPs change from one mesh to the next as in the reference."""

from collections.abc import Callable

from grader.checks.finding import Finding, Located, rejected
from grader.checks.program_subject import Pair, Subject
from grader.checks.wording import Wording, listed
from grader.package.package import CheckBounds, ProgramManifest
from grader.program.collective_uses import collectives_of
from grader.program.measurement import Measured
from grader.verdicts.evidence import Factor, Factors
from grader.verdicts.verdict import Trust

TITLE = "The program scales to another mesh"
TRUST: Trust = "verified"
Bounds = CheckBounds
# The most that a factor may differ from the reference's, because fusions and small collectives differ a little.
TOLERANCE = 0.1
_SMALL_BYTES = 64


def describe(bounds: Bounds, manifest: ProgramManifest) -> Wording:
    """Describe the bounds in words; see `Wording`."""
    return Wording(
        ("from one mesh to the next, arguments, communication and FLOPs change as in the reference",),
        (
            f"{listed(_COUNTS)}: the factor by which each changes between two meshes is within {TOLERANCE * 100:g} % "
            f"of the reference's, or within {TOLERANCE:g} if that is below 1",
        ),
    )


def check(subject: Subject, bounds: Bounds) -> Finding:
    """Pass if arguments, collectives and matrix products scale between meshes as the reference's do."""
    evidence: list[Factors] = []
    faults: list[Located] = []
    for first, pair in _same_cases(subject):
        names = f"From {subject.place(first)} to {subject.place(pair)}"
        factors = []
        for what, count in _COUNTS.items():
            mine = _factor(count(first.mine), count(pair.mine))
            reference = _factor(count(first.reference), count(pair.reference))
            factors.append(Factor(name=what, mine=mine, reference=reference))
            if mine is None or reference is None or abs(mine - reference) > TOLERANCE * max(reference, 1.0):
                faults.append(
                    Located(
                        f"{names}, ",
                        f"{what} {_change(mine)}; in the reference, they {_change(reference)}. "
                        "Look for an array that every device stores whole, for work that every device repeats, or for "
                        "a number of devices written into the code: take sizes from `mesh.shape`.",
                    )
                )
        evidence.append(Factors(**subject.entry(pair), factors=factors))
    if faults:
        return rejected(faults, "wrong_communication", evidence, shown=1)
    if not evidence:
        return Finding(True, "Compiled for one mesh only, so there is nothing to compare.", None)
    return Finding(True, "Bytes and FLOPs change with the mesh as the reference's do.", None, evidence)


def _same_cases(subject: Subject) -> list[tuple[Pair, Pair]]:
    """Pairs of the main mesh's program and another mesh's program for the same cases."""
    firsts: dict[tuple[str, ...], Pair] = {}
    pairs = []
    for pair in subject.pairs:
        first = firsts.setdefault(pair.cases, pair)
        if first is not pair:
            pairs.append((first, pair))
    return pairs


def _collective_bytes(measured: Measured) -> int | None:
    """The bytes that a device sends; None if a collective runs an unknown number of times."""
    uses = collectives_of(measured, ignore_below=_SMALL_BYTES)
    if any(each.executions is None for each in uses):
        return None
    return sum(each.ring_bytes * (each.executions or 0) for each in uses)


_COUNTS: dict[str, Callable[[Measured], int | None]] = {
    "the argument bytes on each device": lambda measured: measured.facts.memory.argument_bytes,
    "the bytes that each device sends": _collective_bytes,
    "the FLOPs of each device": lambda measured: measured.facts.census.dot_flops,
}


def _factor(before: int | None, after: int | None) -> float | None:
    if before is None or after is None:
        return None
    if before == after:
        return 1.0
    return after / before if before else None


def _change(factor: float | None) -> str:
    if factor is None:
        return "change by a factor that cannot be determined"
    return "stay the same" if factor == 1 else f"change by a factor of {factor:.3g}"
