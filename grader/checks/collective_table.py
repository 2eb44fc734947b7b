"""The collectives of a program as a table, with one row per kind, set of axes, and place inside or outside loops."""

from collections.abc import Iterable

from grader.checks.program_subject import Pair, Subject
from grader.program.collective_uses import CollectiveUse, collectives_of
from grader.verdicts.evidence import CollectiveCall, Collectives, CollectiveSum, Limit, Traffic

_MAX_TIMELINE = 64


def evidence_of(subject: Subject, pair: Pair, ignore_below: int, limits: list[Limit]) -> Collectives:
    """The sums of both programs side by side, and the first collectives of each in program order."""
    mine = collectives_of(pair.mine, ignore_below=ignore_below)
    reference = collectives_of(pair.reference, ignore_below=ignore_below)
    ours, theirs = _sums(mine), _sums(reference)
    keys = [*ours, *(key for key in theirs if key not in ours)]
    sums = [
        CollectiveSum(
            collective=kind,
            axes=axes,
            group_size=size,
            in_loop=in_loop,
            mine=ours.get((kind, axes, size, in_loop)),
            reference=theirs.get((kind, axes, size, in_loop)),
        )
        for kind, axes, size, in_loop in keys
    ]
    return Collectives(**subject.entry(pair), sums=sums, mine=_calls(mine), reference=_calls(reference), limits=limits)


Key = tuple[str, tuple[str, ...] | None, int, bool]


def _sums(uses: Iterable[CollectiveUse]) -> dict[Key, Traffic]:
    alike: dict[Key, list[CollectiveUse]] = {}
    for each in uses:
        alike.setdefault((each.kind, each.axes, each.group_size, each.in_loop), []).append(each)
    return {
        key: Traffic(
            executions=sum(each.executions or 0 for each in these),
            bytes=sum(each.total_bytes for each in these),
            ring_bytes=sum(each.ring_bytes * (each.executions or 0) for each in these),
        )
        for key, these in alike.items()
    }


def _calls(uses: list[CollectiveUse]) -> list[CollectiveCall]:
    return [
        CollectiveCall(
            collective=each.kind,
            axes=each.axes,
            bytes=each.logical_bytes,
            executions=each.executions,
            in_loop=each.in_loop,
        )
        for each in uses[:_MAX_TIMELINE]
    ]
