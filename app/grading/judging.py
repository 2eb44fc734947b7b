"""Builds the judge and its sandbox from the settings.

Nothing else builds a judge, so the service, its workers and the command line grade in the same way.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from app.core.settings import Settings
from grader.judging.judge import Judge
from grader.sandbox.build import PooledSandbox, build_sandbox
from grader.sandbox.doctor import WallReport, probe_walls
from grader.sandbox.pool import PoolSettings, PoolStats
from grader.sandbox.walls import Isolation

# For one submission: no fork has to be ready for a next one.
_ALONE = PoolSettings(generic=1, per_problem=0)


@dataclass(frozen=True, slots=True)
class Judging:
    """A judge and its sandbox. Threads may share one; close it once."""

    judge: Judge
    sandbox: PooledSandbox
    isolation: Isolation

    def probe(self) -> list[WallReport]:
        """Test every wall by trying to get through it."""
        return probe_walls(self.isolation)

    def pool_stats(self) -> PoolStats:
        return self.sandbox.stats()

    def close(self) -> None:
        self.sandbox.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def build_judging(settings: Settings, cache: Path, secret: bytes, *, alone: bool) -> Judging:
    """Build a judge. Its zygote starts with the first submission, so a missing wall is found only then.

    Args:
      cache: a private folder for data that can be computed again.
      secret: the deployment secret, from which hidden inputs are derived.
      alone: true for one submission on the command line. In the service, the queue counts the tries, even across
        restarts and workers.
    """
    pool = _ALONE if alone else _pool_of(settings)
    sandbox = build_sandbox(cache, isolation=settings.isolation, settings=pool, ceiling=settings.ceiling)
    judge = Judge(sandbox, secret, cache) if alone else Judge(sandbox, secret, cache, tries=1)
    return Judging(judge, sandbox, settings.isolation)


def _pool_of(settings: Settings) -> PoolSettings:
    return PoolSettings(
        generic=settings.pool_generic,
        per_problem=settings.pool_per_problem,
        problems=settings.pool_problems,
        fillers=settings.grading_slots,
        at_once=settings.grading_slots,
    )
