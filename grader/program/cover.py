"""Estimate whether what hides a collective on a chip takes long enough.

The compiler estimates the cycles of computation, but not those of collectives. Those here follow from the documented
bandwidth of the links (`grader.core.chips.Torus`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from grader.core.chips import Torus
from grader.program.schedule import ScheduledCollective, ScheduledComputation, total


@dataclass(frozen=True, slots=True)
class Cover:
    """What a chip computes while a collective is in flight.

    Attributes:
      cycles: the compiler's estimate for all steps that have one.
      flops: those of their matrix products; None if one of them runs an unknown number of times.
      kernels: how many steps compute.
      without_estimate: how many of these have no estimate, such as a Pallas kernel.
      needed: the cycles that the links need for it; None if their bandwidth or the clock is not documented.
      queued: the cycles before that, in which the links are busy with collectives that started earlier.
    """

    cycles: int
    flops: int | None
    kernels: int
    without_estimate: int
    needed: int | None
    queued: int

    @property
    def is_enough(self) -> bool | None:
        """Whether it takes long enough; None if there is no estimate of the links or of some step."""
        if self.needed is None or not self.kernels:
            return None
        enough = self.cycles >= self.queued + self.needed
        return None if self.without_estimate and not enough else enough


def covers_of(computation: ScheduledComputation, torus: Torus | None) -> list[Cover]:
    """The cover of each collective of a computation, without an estimate of the links if `torus` is None."""
    needs = [_needed(each, torus) for each in computation.collectives]
    waits = _queued(computation, needs)
    return [
        _cover(computation, each, needed, queued)
        for each, needed, queued in zip(computation.collectives, needs, waits, strict=True)
    ]


def _needed(each: ScheduledCollective, torus: Torus | None) -> int | None:
    return None if torus is None else torus.cycles_to_send(each.kind, each.ring_bytes, each.group_size)


def _cover(computation: ScheduledComputation, each: ScheduledCollective, needed: int | None, queued: int) -> Cover:
    between, computing = computation.between(each), computation.kernels_between(each)
    return Cover(
        cycles=sum(step.cycles or 0 for step in between),
        flops=total(step.flops for step in between),
        kernels=len(computing),
        without_estimate=sum(step.cycles is None for step in computing),
        needed=needed,
        queued=queued,
    )


def _queued(computation: ScheduledComputation, needs: Sequence[int | None]) -> list[int]:
    """For how long each asynchronous collective waits for links, which serve one after the other over an axis.

    Time counts only this computation, as if no step had to wait.
    """
    passed = [0]
    for step in computation.steps:
        passed.append(passed[-1] + (step.cycles or 0))
    busy_until: dict[str | None, int] = {}
    queued = [0] * len(needs)
    for number in sorted(range(len(needs)), key=lambda number: computation.collectives[number].start):
        each, needed = computation.collectives[number], needs[number]
        if needed is None or not each.asynchronous:
            continue
        now = passed[each.start]
        # Collectives whose groups do not run along axes may use all links; None stands for them.
        axes = [*busy_until] if each.axes is None else [*each.axes, None]
        begin = max([now, *(busy_until.get(axis, 0) for axis in axes)])
        queued[number] = begin - now
        busy_until |= dict.fromkeys(each.axes if each.axes is not None else (None,), begin + needed)
    return queued
