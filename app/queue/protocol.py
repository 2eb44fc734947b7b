"""The seams of grading: who carries an attempt to a worker, who judges it, who says whether the walls stand."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from sqlalchemy.ext.asyncio import AsyncSession

from app.queue.models import AttemptRow
from app.queue.turns import QueuePlace
from grader.context import Context
from grader.package.package import Package
from grader.verdict import Verdict


class Grader(Protocol):
    """What grader.judge.Judge does. Blocking; called in threads, several at once."""

    def judge(
        self,
        package: Package,
        source: str,
        context: Context = ...,
        *,
        hidden: bool = True,
        draw: str | None = None,
    ) -> Verdict:
        """Grade, on the hidden inputs that `draw` names. Raises `Cancelled` soon after it is stopped; `WallMissing`."""
        ...

    def prepare(self, package: Package, context: Context = ..., *, background: bool = False) -> None:
        """Do ahead of time what the first grading of this package would otherwise wait for.

        Args:
          background: at rest while something is graded. Raises `Cancelled` where a grading does the same itself.
        """
        ...

    def prepare_known(self, package: Package, context: Context = ...) -> None:
        """Do ahead of time, in the background, what helps to explain wrong submissions to this package."""
        ...

    def warm(self, package: Package) -> None:
        """A submission to this problem may come soon. Returns at once."""
        ...


async def _nothing(session: AsyncSession, attempt_id: str) -> None:
    pass


async def _own_id(session: AsyncSession, attempt: AttemptRow) -> str:
    return attempt.id


@dataclass(frozen=True, slots=True)
class QueueHooks:
    """What other parts of the service do inside the queue's transactions. It knows none of them: app/main.py does.

    `on_finished` is called when the verdict of an attempt is stored, with the id of that attempt. `draw_of` names the
    attempt whose hidden inputs a row is graded on, which is the row itself unless it is a copy.
    """

    on_finished: Callable[[AsyncSession, str], Awaitable[None]] = _nothing
    draw_of: Callable[[AsyncSession, AttemptRow], Awaitable[str]] = _own_id


class WallReport(Protocol):
    """What probing one wall found: grader.sandbox.doctor.WallReport."""

    @property
    def name(self) -> str: ...
    @property
    def up(self) -> bool: ...
    @property
    def found(self) -> str: ...
    @property
    def remedy(self) -> str: ...


class PackageSource(Protocol):
    """Where a worker finds the package of an attempt: app.problems.store.PackageStore."""

    async def get(self, version: str) -> Package:
        """Raises `PackageNotStored`."""
        ...


@dataclass(frozen=True, slots=True)
class QueueLimits:
    """`retry_s`: how long an attempt waits after its first try that failed; four times as long after the second,
    sixteen times from then on.

    `max_tries` holds for tries that failed, `max_deaths` for those that a worker did not outlive: it may have died of
    something else, and a student must not pay for that.
    """

    slots: int
    lease_s: float
    retry_s: float
    max_tries: int
    max_deaths: int


@dataclass(frozen=True, slots=True)
class QueueStats:
    queued: int
    running: int


class GradeQueue(Protocol):
    """Carries attempts to workers, at least once each; results are fenced, so that one of them counts.

    Life cycle: `work` runs from the start of the service until `stop`. The others may be called at any time.
    """

    async def enqueue(self, session: AsyncSession, attempt: AttemptRow) -> None:
        """Add the attempt in the caller's transaction: no commit, no job. Workers are woken by the commit.

        Runs go first, then attempts, then rejudges, which never take a process's last slot; app/queue/turns.py says
        how users share.
        """
        ...

    async def cancel(self, attempt_id: str) -> bool:
        """Stop a queued or running attempt; `False` when it had ended before."""
        ...

    async def place(self, attempt: AttemptRow) -> QueuePlace | None:
        """Where a queued attempt stands; None for any other."""
        ...

    async def work(self) -> None: ...

    async def stop(self, *, grace_s: float = 0.0) -> None:
        """Take no further attempt; give what runs `grace_s` to finish, then end `work` within seconds.

        Unfinished attempts go back to the queue, uncharged.
        """
        ...

    async def stats(self) -> QueueStats: ...
