"""The interfaces of grading: the queue, the grader, the source of packages, and the report on a wall."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlalchemy.ext.asyncio import AsyncSession

from app.grading.queue.models import AttemptRow, WorkRow
from app.grading.queue.status import Glance, QueuePlace
from grader.answers.question_variants import Variants
from grader.core.case import Case
from grader.core.chips import ChipName
from grader.core.context import Context
from grader.explorer.script import Printed
from grader.inputs.explored_function import Function
from grader.inputs.own_inputs import OwnInputs
from grader.package.package import Package
from grader.program.measurement import Measured, OnFirst
from grader.sandbox.retry_backoff import RetryBackoff
from grader.verdicts.package_study import Answers
from grader.verdicts.verdict import Verdict


class Grader(Protocol):
    """The interface of grader.judging.judge.Judge. It blocks. Several threads call it at once."""

    def judge(
        self,
        package: Package,
        source: str,
        context: Context = ...,
        *,
        hidden: bool = True,
        draw: str | None = None,
        own: OwnInputs | None = None,
    ) -> Verdict:
        """Grade on the hidden inputs that `draw` names, or run on the inputs that `own` describes.

        Raises `WallMissing`, and `Cancelled` soon after it is stopped.
        """
        ...

    def inspect(
        self,
        package: Package,
        source: str,
        context: Context = ...,
        *,
        chip: ChipName | None = None,
        options: Mapping[str, str] | None = None,
        on_first: OnFirst | None = None,
    ) -> tuple[Measured, ...]:
        """Compile a submission to a program-mode problem for every mesh, and measure it without judging it.

        With a `chip`, it is compiled for a slice of those chips as well, and for GPUs with these `options` of XLA.
        `on_first` is called from any thread with the first program as soon as that is verified, while more is compiled.

        Raises `SubmissionFault` if it gives no program, `WallMissing`, and `Cancelled` soon after it is stopped.
        """
        ...

    def inspect_function(
        self,
        function: Function,
        source: str,
        context: Context = ...,
        *,
        chip: ChipName | None = None,
        options: Mapping[str, str] | None = None,
        on_first: OnFirst | None = None,
    ) -> tuple[Measured, ...]:
        """Compile a function that belongs to no problem. As `inspect`."""
        ...

    def run_script(self, source: str, context: Context = ...) -> Printed:
        """Run a script that belongs to no problem, and return what it prints.

        Raises `WallMissing`, and `Cancelled` soon after it is stopped.
        """
        ...

    def prepare(self, package: Package, context: Context = ..., *, background: bool = False) -> None:
        """Do the work that the first grading of this package would otherwise wait for.

        Args:
          background: pause while anything is graded. Raises `Cancelled` if a grading does the same work itself.
        """
        ...

    @property
    def setbacks(self) -> RetryBackoff:
        """The versions whose preparation failed and is tried again, for all callers."""
        ...

    def variants(self, package: Package, context: Context = ...) -> Variants | None:
        """The questions of an answer-mode problem, drawn if necessary; None in every other mode."""
        ...

    def answers(self, package: Package, context: Context = ..., cases: Sequence[Case] | None = None) -> Answers:
        """What the reference computes for the package's cases, or for `cases`: show it only to the author."""
        ...

    def warm(self, package: Package) -> None:
        """Expect a submission to this problem soon. Returns immediately."""
        ...

    def next_draw(self, package: Package) -> str | None:
        """An id for the next attempt at this problem, whose hidden inputs are already drawn. None: make one."""
        ...


async def _nothing(session: AsyncSession, attempt_id: str) -> None:
    pass


async def _own_id(session: AsyncSession, attempt: AttemptRow) -> str:
    return attempt.id


@dataclass(frozen=True, slots=True)
class QueueHooks:
    """Functions of higher packages that run inside the queue's transactions. app/entry/main.py passes them in.

    `on_finished` is called with the id of an attempt when its verdict is stored. `draw_of` names the attempt whose
    hidden inputs a row is graded on, which is the row itself unless it is a copy.
    """

    on_finished: Callable[[AsyncSession, str], Awaitable[None]] = _nothing
    draw_of: Callable[[AsyncSession, AttemptRow], Awaitable[str]] = _own_id


class WallReport(Protocol):
    """The result of probing one wall: grader.sandbox.doctor.WallReport."""

    @property
    def name(self) -> str: ...
    @property
    def up(self) -> bool: ...
    @property
    def found(self) -> str: ...
    @property
    def remedy(self) -> str: ...


class PackageSource(Protocol):
    """The source of an attempt's package: app.problems.package_store.PackageStore."""

    async def get(self, version: str) -> Package:
        """Raises `PackageNotStored`."""
        ...


@dataclass(frozen=True, slots=True)
class QueueLimits:
    """`slots` counts what may run at once; one further slot is for work that can take minutes
    (app/grading/queue/slots.py).

    `retry_s` is how long an attempt waits after its first failed try. After the second it waits four times as long,
    and sixteen times from then on.

    `max_tries` limits failed tries. `max_deaths` limits tries during which the worker died. That limit is higher,
    because the worker may have died for another reason, and a student must not pay for that.
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


class Enqueue(Protocol):
    """`GradeQueue.enqueue`, for services that do nothing else with a queue."""

    async def __call__(self, session: AsyncSession, work: WorkRow, /) -> None: ...


class GradeQueue(Protocol):
    """Delivers all work to a worker at least once. Results are fenced, so that only one of them counts.

    Life cycle: `work` runs from the start of the service until `stop`. The other methods may be called at any time.
    """

    async def enqueue(self, session: AsyncSession, work: WorkRow) -> None:
        """Add work of any kind in the caller's transaction. The commit wakes workers; without it there is none.

        app/grading/queue/fair_share.py describes the order, and how users share.
        """
        ...

    async def cancel(self, attempt_id: str) -> bool:
        """Stop a queued or running attempt. `False` if it had already ended."""
        ...

    async def place(self, attempt: AttemptRow) -> QueuePlace | None:
        """The place of a queued attempt; None for any other."""
        ...

    async def glance(self, attempt_id: str) -> Glance | None:
        """The status of an attempt that somebody waits for, and its place, as of a few seconds ago; None if it was
        deleted. However many ask, it is read for all of them at once.
        """
        ...

    async def work(self) -> None: ...

    async def stop(self, *, grace_s: float = 0.0) -> None:
        """Lease no further attempt, let running ones finish for `grace_s`, then end `work` within seconds.

        Unfinished attempts return to the queue, and the try does not count.
        """
        ...

    async def stats(self) -> QueueStats: ...
