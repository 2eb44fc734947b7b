"""The collectives of a program for checks, drawings and comparisons: with mesh axes and leaf paths."""

from dataclasses import dataclass
from typing import Literal

from grader.program.axes import axes_of
from grader.program.collectives import Collective
from grader.program.measurement import Measured

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
    `outputs` names the returned leaves in which its elements arrive (see `flow.Flow`)."""

    logical_bytes: int
    depends: frozenset[str]
    carries: frozenset[str]
    outputs: frozenset[str]


@dataclass(frozen=True, slots=True)
class CollectiveUse:
    """One collective. `axes` is None if its groups do not run along axes of the mesh.

    `executions` is None if the compiler does not know the number; the total bytes are then unknown.
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
