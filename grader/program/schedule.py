"""The order in which a chip runs a compiled program, and which collectives are in flight meanwhile.

A collective is asynchronous if one instruction starts it and a later one waits for it; whatever is scheduled in between
hides it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

MAX_STEPS = 2_000
MAX_COPIES = 1_000
_MOST = 2**62


@dataclass(frozen=True, slots=True)
class Step:
    """An instruction that takes time, with everything that it calls, each time that it runs.

    Attributes:
      cycles: the compiler's estimate; None if it has none, as for communication.
      flops: those of its matrix products; None if one of them runs an unknown number of times.
      target: the custom call that it is, such as `cusolver_syevd_ffi`; empty for XLA's own code.
    """

    name: str
    cycles: int | None
    flops: int | None
    line: int | None
    target: str = ""


@dataclass(frozen=True, slots=True)
class ScheduledShare:
    """What one line sends in a collective."""

    line: int | None
    dtypes: tuple[str, ...]
    logical_bytes: int
    ring_bytes: int


@dataclass(frozen=True, slots=True)
class ScheduledCollective:
    """One execution of a collective. Bytes and kinds are those of `grader.program.collectives.Collective`.

    Attributes:
      axes: None if its groups do not run along axes of the mesh.
      link: what the slowest hop crosses, such as NVLink within a host and InfiniBand between hosts.
      start, done: the steps that start it and wait for it, equal if it is not asynchronous. `done` is None if the wait
        is elsewhere, as in a later trip of the loop.
      line: the one that most of its bytes are from.
      by_line: what each line sends, if the compiler merged the collectives of several lines; else ().
    """

    kind: str
    dtypes: tuple[str, ...]
    axes: tuple[str, ...] | None
    group_size: int
    logical_bytes: int
    ring_bytes: int
    link: str
    line: int | None
    start: int
    done: int | None
    by_line: tuple[ScheduledShare, ...] = ()

    @property
    def shares(self) -> tuple[ScheduledShare, ...]:
        """What each line sends; there is at least one."""
        return self.by_line or (ScheduledShare(self.line, self.dtypes, self.logical_bytes, self.ring_bytes),)

    @property
    def asynchronous(self) -> bool:
        return self.done != self.start


@dataclass(frozen=True, slots=True)
class ScheduledCopy:
    """An asynchronous copy between the memories of a chip. The chip computes meanwhile.

    Attributes:
      shape: of the copied part, as in HLO.
      source, target: the memories, such as `HBM` and `on-chip memory`.
      line: the nearest one that uses the copy.
      start, done: it is in flight during the steps from `start` to before `done`, which may be equal. `done` is None if
        the wait is elsewhere, as in a later trip of the loop.
    """

    shape: str
    bytes: int
    source: str
    target: str
    line: int | None
    start: int
    done: int | None


@dataclass(frozen=True, slots=True)
class ScheduledComputation:
    """The program itself, the body of a loop, or a called computation. `caller` is empty for the program itself.

    Attributes:
      executions: how often it runs in one call of the program; None if that is unknown.
      steps: in the order in which they begin.
      conditional: whether it is a branch, or in one, so that `executions` is an upper bound.
    """

    name: str
    caller: str
    executions: int | None
    steps: tuple[Step, ...]
    collectives: tuple[ScheduledCollective, ...]
    copies: tuple[ScheduledCopy, ...] = ()
    conditional: bool = False

    def during(self, copy: ScheduledCopy) -> tuple[Step, ...]:
        """The steps that compute while a copy is in flight."""
        return self._computing(copy.start, copy.done)

    def between(self, collective: ScheduledCollective) -> tuple[Step, ...]:
        """The steps that hide an asynchronous collective: after its start and before the wait for it."""
        return self.steps[collective.start + 1 : collective.done] if collective.asynchronous else ()

    def kernels_between(self, collective: ScheduledCollective) -> tuple[Step, ...]:
        """The steps among these that compute, rather than start another collective or wait for it."""
        return self._computing(collective.start + 1, collective.done) if collective.asynchronous else ()

    def _computing(self, start: int, end: int | None) -> tuple[Step, ...]:
        communicates = {step for each in self.collectives for step in (each.start, each.done)}
        steps = enumerate(self.steps[start:end], start=start)
        return tuple(step for number, step in steps if number not in communicates)


@dataclass(frozen=True, slots=True)
class Schedule:
    """The schedules of a program's computations, callers before what they call.

    `left_out` counts the steps beyond the first 2,000, and `copies_left_out` the copies at these, or beyond 1,000.
    """

    computations: tuple[ScheduledComputation, ...]
    left_out: int
    copies_left_out: int = 0


def total(numbers: Iterable[int | None]) -> int | None:
    """The sum; None if one of them is unknown."""
    result: int | None = 0
    for number in numbers:
        result = sum_of(result, number)
    return result


def sum_of(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None or one + other > _MOST else one + other


def product(one: int | None, other: int | None) -> int | None:
    if one == 0 or other == 0:
        return 0
    return None if one is None or other is None or one * other > _MOST else one * other
