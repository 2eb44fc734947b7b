"""Compare the bytes that a device sends with those of the accepted solutions (grader/package/budget.py)."""

from collections import Counter

from grader.checks.program_subject import Pair, Subject
from grader.checks.wording import listed
from grader.core.text import in_bytes
from grader.package.budget import SLACK, Range
from grader.program.collective_uses import CollectiveUse, collectives_of, traffic_of
from grader.program.measurement import Measured, mesh_name
from grader.verdicts.evidence import Limit

BUDGET_WORDING = (
    "over all collectives together, a device sends at most what it sends in the accepted solution that sends most, and "
    f"{SLACK} bytes more, counted as in a ring; the same holds for the bytes of the whole tensors"
)
_MOST_LINES = 3
# Collectives are compared by kind, axes, and whether they are in a loop.
_Way = tuple[str, tuple[str, ...] | None, bool]


def over_budget(subject: Subject, pair: Pair) -> tuple[str | None, list[Limit]]:
    """Return the limits, and what exceeds them as the end of a sentence that begins with the mesh, or None.

    There are no limits if nothing was measured for this program, or if its communication cannot be counted, which the
    check `collectives` reports.
    """
    budget, mesh = subject.budget, mesh_name(pair.mine.mesh)
    measured = None if budget is None else budget.entry(mesh, pair.cases, subject.variant)
    mine, theirs = traffic_of(pair.mine), traffic_of(pair.reference)
    if measured is None or mine is None or theirs is None:
        return None, []
    sent, moved = _scaled(measured.sent, theirs.sent), _scaled(measured.moved, theirs.moved)
    limits = [
        _limit("all that a device sends", mine.sent, theirs.sent, sent),
        _limit("all tensors that are sent", mine.moved, theirs.moved, moved),
    ]
    fault = None
    if mine.sent > sent.most + SLACK:
        fault = f"a device sends {in_bytes(mine.sent)} in all; accepted solutions send {_words(sent)}."
    elif mine.moved > moved.most + SLACK:
        fault = f"collectives move {in_bytes(mine.moved)} in all; in accepted solutions they move {_words(moved)}."
    return fault and f"{fault} {_culprit(pair)}", limits


def _scaled(measured: Range, reference: int) -> Range:
    """Scale a measured range by what the reference sends now, because shapes can depend on the drawn inputs."""
    if not (measured.reference and reference):
        return measured
    least, most = (size * reference // measured.reference for size in (measured.least, measured.most))
    return Range(reference=reference, least=least, most=most, style=measured.style)


def _limit(name: str, mine: int, theirs: int, measured: Range) -> Limit:
    return Limit(name=name, unit="bytes", mine=mine, reference=theirs, at_least=None, at_most=measured.most + SLACK)


def _words(measured: Range) -> str:
    least, most = in_bytes(measured.least), in_bytes(measured.most)
    return most if least == most else f"{least} to {most}"


def _culprit(pair: Pair) -> str:
    """The lines that send most by the kind of collective in which the program exceeds the reference most."""
    usual = _by_way(pair.reference)
    excess = {way: size - usual[way] for way, size in _by_way(pair.mine).items()}
    way = max(excess, key=lambda each: excess[each])
    sizes: Counter[int | None] = Counter()
    for use in collectives_of(pair.mine):
        for share in use.by_line if _way_of(use) == way else ():
            sizes[share.line] += share.ring_bytes * (use.executions or 0)
    largest = dict(sizes.most_common(_MOST_LINES))
    lines = [str(line) for line in sorted(line for line in largest if line)]
    where = (
        f"Lines {listed(lines)} send" if len(lines) > 1 else f"Line {lines[0]} sends" if lines else "The program sends"
    )
    kind, axes, in_loop = way
    how = f"by {kind}{f' over {listed(axes)}' if axes else ''}{' in a loop' if in_loop else ''}"
    theirs = f"the reference sends {in_bytes(usual[way]) if usual[way] else 'nothing'} this way"
    return f"{where} {in_bytes(sum(largest.values()))} {how}; {theirs}."


def _by_way(measured: Measured) -> Counter[_Way]:
    found: Counter[_Way] = Counter()
    for use in collectives_of(measured):
        found[_way_of(use)] += use.ring_bytes * (use.executions or 0)
    return found


def _way_of(use: CollectiveUse) -> _Way:
    return use.kind, use.axes, use.in_loop
