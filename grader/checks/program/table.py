"""The collectives of a program as a table, with one row per kind, set of axes, and place inside or outside loops."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from grader.checks.program.subject import Pair, Subject
from grader.evidence import CollectiveCall, Collectives, CollectiveSum, Limit, Traffic
from grader.program.axes import axes_of
from grader.program.collectives import Collective
from grader.program.measured import Measured

Kind = Literal[
    "all-gather",
    "all-reduce",
    "reduce-scatter",
    "all-to-all",
    "collective-permute",
    "collective-broadcast",
    "ragged-all-to-all",
]
_MAX_TIMELINE = 64


@dataclass(frozen=True, slots=True)
class Share:
    """One array of a collective. `depends` and `carries` name leaves of the state and inputs (see `flow.Origin`), and
    `outputs` those that its numbers arrive in (see `flow.Flow`)."""

    logical_bytes: int
    depends: frozenset[str]
    carries: frozenset[str]
    outputs: frozenset[str]


@dataclass(frozen=True, slots=True)
class CollectiveUse:
    """One collective, as checks read it. `axes` is None if its groups do not run along axes of the mesh.

    `executions` is None if the compiler does not know a number; the total bytes are then unknown.
    """

    kind: str
    axes: tuple[str, ...] | None
    group_size: int
    in_loop: bool
    executions: int | None
    logical_bytes: int
    ring_bytes: int
    shapes: tuple[tuple[int, ...], ...]
    shares: tuple[Share, ...]
    line: int | None
    takes_turns: bool
    beside_products: bool

    @property
    def total_bytes(self) -> int:
        return self.logical_bytes * (self.executions or 0)


def collectives_of(measured: Measured, *, ignore_below: int = 0) -> list[CollectiveUse]:
    """The collectives in program order, without groups of one device and without those too small to matter.

    A collective is small if it moves less than `ignore_below` bytes over all its executions. Small ones are left out
    unless they move as much together.
    """
    uses = [_use_of(each, measured) for each in measured.facts.census.collectives if each.group_size > 1]
    little = [each for each in uses if each.executions is not None and each.total_bytes < ignore_below]
    if sum(each.total_bytes for each in little) >= ignore_below:
        return uses
    return [each for each in uses if each not in little]


def evidence_of(subject: Subject, pair: Pair, ignore_below: int, limits: list[Limit]) -> Collectives:
    """The sums of both programs side by side, and each program's collectives in program order."""
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


def _use_of(each: Collective, measured: Measured) -> CollectiveUse:
    names = [*measured.state, *measured.inputs]
    return CollectiveUse(
        kind=each.kind,
        axes=axes_of(each.groups, measured.mesh),
        group_size=each.group_size,
        in_loop=bool(each.loops),
        executions=each.executions,
        logical_bytes=each.logical_bytes,
        ring_bytes=each.ring_bytes,
        shapes=each.shapes,
        shares=tuple(
            Share(
                part.logical_bytes,
                frozenset(names[number] for number in part.depends),
                frozenset(names[number] for number in part.carries),
                frozenset(measured.outputs[number] for number in part.outputs),
            )
            for part in each.parts
        ),
        line=each.source_line,
        takes_turns=each.takes_turns,
        beside_products=each.beside_products,
    )
