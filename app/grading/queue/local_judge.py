"""What routes ask of the judge that runs in their own process, or in the first process beside it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.grading.queue.preparation import Preparation
from grader.package.package import Package

if TYPE_CHECKING:
    from grader.sandbox.pool import PoolStats


def _warm_nothing(package: Package) -> None:
    pass


@dataclass(frozen=True, slots=True)
class LocalJudge:
    """The default is for a process that leaves grading to workers.

    `warm` prepares a problem and a runner for it, because a submission may come soon. `preparation` and `pool_stats`
    return None if the process prepares nothing or has no pool. `next_draw` is that of `Grader`.
    `is_here` is false for the judge of another process.
    """

    warm: Callable[[Package], None] = _warm_nothing
    preparation: Callable[[], Preparation | None] = lambda: None
    pool_stats: "Callable[[], PoolStats | None]" = lambda: None
    next_draw: Callable[[Package], str | None] = lambda _: None
    is_here: bool = True
