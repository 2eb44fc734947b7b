"""The collectives of a program for checks, drawings and comparisons: with mesh axes and leaf paths."""

from dataclasses import dataclass
from typing import Literal

from grader.program.axes import axes_of
from grader.program.collectives import Collective
from grader.program.measurement import Measured
from grader.verdicts.package_study import Traffic

Kind = Literal[
    "all-gather",
    "all-reduce",
    "reduce-scatter",
    "all-to-all",
    "collective-permute",
    "collective-broadcast",
    "ragged-all-to-all",
]


@dataclass(frozen=True, slots=True)
class Share:
    """One array of a collective. `depends` and `carries` name leaves of the state and inputs (see `flow.Origin`), and
    `outputs` names the returned leaves in which its elements arrive (see `flow.Flow`). `line` is the one that sent it
    before XLA merged the collectives of several lines. `written_bytes` and `written_dtype` are those of
    `collectives.Part`."""

    logical_bytes: int
    ring_bytes: int
    written_bytes: int
    written_dtype: str | None
    depends: frozenset[str]
    carries: frozenset[str]
    outputs: frozenset[str]
    line: int | None


@dataclass(frozen=True, slots=True)
class LineShare:
    """What one line sends in a collective. `written_dtypes` are those of the arrays that were widened."""

    line: int | None
    logical_bytes: int
    ring_bytes: int
    written_bytes: int
    written_dtypes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CollectiveUse:
    """One collective. `axes` is None if its groups do not run along axes of the mesh.

    `executions` is None if the compiler does not know the number; the total bytes are then unknown. If it is
    `conditional`, it is in a branch, and the number is an upper bound. If XLA merged the collectives of several lines,
    `line` is the one that most of its bytes are from. `constraint_line`, `consumer_line` and `kept_of` are those of
    `collectives.Collective`. In a permute, `senders` of the `devices` in all groups send something; it is None for
    other kinds.
    """

    kind: str
    axes: tuple[str, ...] | None
    group_size: int
    in_loop: bool
    conditional: bool
    executions: int | None
    logical_bytes: int
    ring_bytes: int
    shapes: tuple[tuple[int, ...], ...]
    shares: tuple[Share, ...]
    line: int | None
    senders: int | None
    devices: int
    constraint_line: int | None
    consumer_line: int | None
    kept_of: int | None
    takes_turns: bool
    beside_products: bool

    @property
    def total_bytes(self) -> int:
        return self.logical_bytes * (self.executions or 0)

    @property
    def by_line(self) -> tuple[LineShare, ...]:
        """Its bytes by the line that sends them: more than one if XLA merged the collectives of several lines."""
        by_line: dict[int | None, list[Share]] = {}
        for share in self.shares:
            by_line.setdefault(share.line, []).append(share)
        return tuple(
            LineShare(
                line,
                sum(each.logical_bytes for each in shares),
                sum(each.ring_bytes for each in shares),
                sum(each.written_bytes for each in shares),
                tuple(sorted({each.written_dtype for each in shares if each.written_dtype is not None})),
            )
            for line, shares in by_line.items()
        )


def traffic_of(measured: Measured) -> Traffic | None:
    """The bytes of all collectives in one call; None if a number of executions is unknown."""
    uses = collectives_of(measured)
    if any(each.executions is None for each in uses):
        return None
    sent = sum(each.ring_bytes * (each.executions or 0) for each in uses)
    return Traffic(sent, sum(each.total_bytes for each in uses))


def collectives_of(measured: Measured, *, ignore_below: int = 0) -> list[CollectiveUse]:
    """The collectives in program order, without those in groups of one device and without small ones.

    A collective is small if it moves less than `ignore_below` bytes over all its executions. Small ones count if
    together they move that much or more.
    """
    uses = [_use_of(each, measured) for each in measured.facts.census.collectives if each.group_size > 1]
    little = [each for each in uses if each.executions is not None and each.total_bytes < ignore_below]
    if sum(each.total_bytes for each in little) >= ignore_below:
        return uses
    return [each for each in uses if each not in little]


def _use_of(each: Collective, measured: Measured) -> CollectiveUse:
    names = [*measured.state, *measured.inputs]
    return CollectiveUse(
        kind=each.kind,
        axes=axes_of(each.groups, measured.mesh),
        group_size=each.group_size,
        in_loop=bool(each.loops),
        conditional=each.conditional,
        executions=each.executions,
        logical_bytes=each.logical_bytes,
        ring_bytes=each.ring_bytes,
        shapes=each.shapes,
        shares=tuple(
            Share(
                part.logical_bytes,
                part.ring_bytes,
                part.written_bytes,
                part.written_dtype,
                frozenset(names[number] for number in part.depends),
                frozenset(names[number] for number in part.carries),
                frozenset(measured.outputs[number] for number in part.outputs),
                part.source_line,
            )
            for part in each.parts
        ),
        line=each.source_line,
        senders=len({source for source, target in each.pairs if source != target}) if each.pairs else None,
        devices=sum(map(len, each.groups)),
        constraint_line=each.constraint_line,
        consumer_line=each.consumer_line,
        kept_of=each.kept_of,
        takes_turns=each.takes_turns,
        beside_products=each.beside_products,
    )
