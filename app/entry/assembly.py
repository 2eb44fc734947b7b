"""What a server and a worker have in common: the judge, the queue, the events and the tasks in the background."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy.ext.asyncio import AsyncSession

from app.authoring.validator import Validator
from app.core.background_loop import Activity, Loop
from app.core.data_folder import DataFolder
from app.core.database import Database
from app.core.neighbours import Neighbours
from app.core.settings import Settings
from app.core.start_errors import SettingInvalid
from app.grading.queue.embedded_queue import EmbeddedQueue
from app.grading.queue.events import WorkEvents
from app.grading.queue.grading_tries import GradingProcess
from app.grading.queue.jobs import Jobs
from app.grading.queue.neighbour_events import NeighbourEvents
from app.grading.queue.preparation import CPU_S, Preparer
from app.grading.queue.procrastinate_queue import ProcrastinateQueue
from app.grading.queue.protocol import GradeQueue, Grader, QueueHooks, QueueLimits, WallReport
from app.grading.queue.shared_answers import AnswersInDatabase
from app.grading.queue.shared_events import SharedEvents
from app.grading.queue.slots import Slots
from app.grading.queue.walls import Walls
from app.grading.queue.workers import OwnWorker, Workers, WorkerWarning
from app.learning.explorer.exploration_runner import Explorer
from app.learning.lessons.lesson_runner import LessonRunner
from app.operations.operating.step_log import step_log
from app.operations.webhooks.service import queue_deliveries
from app.problems.package_store import PackageStore
from app.teaching.lti.scores import queue_scores
from app.teaching.rejudging.original_inputs import draw_of
from grader.core.code_digest import grader_code
from grader.package.package import Package

if TYPE_CHECKING:
    from grader.judging.judge import Judge
    from grader.sandbox.pool import PoolStats

log = logging.getLogger(__name__)


async def _on_finished(session: AsyncSession, attempt_id: str) -> None:
    await queue_deliveries(session, attempt_id)
    await queue_scores(session, attempt_id)


HOOKS = QueueHooks(on_finished=_on_finished, draw_of=draw_of)


def quiet(line: str) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Grading:
    """The judge, and the probe that tests its walls. Built from the data folder once that is locked."""

    grader: Grader
    probe: Callable[[], Sequence[WallReport]]
    close: Callable[[], None] = lambda: None
    pool_stats: "Callable[[], PoolStats] | None" = None
    judge: "Judge | None" = None


def build_grading(data: DataFolder, settings: Settings) -> Grading:
    """The real judge in its sandbox."""
    from app.grading.judging import build_judging

    judging = build_judging(settings, data.cache, data.judging_secret, alone=False)
    return Grading(judging.judge, judging.probe, judging.close, judging.pool_stats, judging.judge)


def share_answers(built: Grading, database: Database) -> None:
    """Let the workers of one database share what their references computed. Call it in the event loop."""
    if database.shared and built.judge:
        built.judge.share(AnswersInDatabase(database, asyncio.get_running_loop()))


@asynccontextmanager
async def working(
    queue: GradeQueue,
    events: WorkEvents,
    workers: Workers,
    preparing: list[tuple[Preparer, list[Package]]],
    loops: Sequence[Loop],
    *,
    grace_s: float,
) -> AsyncIterator[None]:
    """Grade, and repeat the `loops`. On exit, gradings may finish for `grace_s`."""
    # Before any request can ask how many there are.
    await workers.join()
    parts = [queue.work(), *(each.run() for each in (workers.loop, *events.loops, *loops))]
    tasks = [asyncio.create_task(each) for each in parts]
    tasks += [asyncio.create_task(each.run(packages)) for each, packages in preparing]
    for task in tasks:
        task.add_done_callback(_log_failure)
    try:
        yield
    finally:
        events.close()
        for each, _ in preparing:
            each.stop()
        await workers.leave()
        await queue.stop(grace_s=grace_s)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _log_failure(task: asyncio.Task[None]) -> None:
    """No part should end by itself. Without this, nobody would notice until the service stops."""
    if not task.cancelled() and (error := task.exception()):
        log.critical("a part of the service ended: %s", task.get_coro(), exc_info=error)


def pick_events(database: Database, settings: Settings, neighbours: Neighbours | None = None) -> WorkEvents:
    events = SharedEvents(database) if database.shared else NeighbourEvents(neighbours or Neighbours())
    events.watch_here(step_log(settings.worker_name))
    return events


def notice_ends(events: WorkEvents, activity: Activity) -> None:
    """Note the end of each attempt, whichever process graded it: there may be a webhook or a score to send."""
    events.watch(lambda _, change: activity.note() if change.is_last else None)


def pick_queue(
    database: Database,
    built: Grading | None,
    store: PackageStore,
    walls: Walls,
    events: WorkEvents,
    settings: Settings,
    jobs: Sequence[Jobs[Any]] = (),
    neighbours: Neighbours | None = None,
) -> GradeQueue:
    """The queue that this database requires. `jobs` is the other work that this process does.

    Raises:
      SettingInvalid: nothing would be graded.
    """
    limits = _queue_limits(settings)
    slots = None
    if built is not None:
        by = process_of(settings)
        slots = Slots(database, built.grader, store, walls, events, limits, hooks=HOOKS, jobs=jobs, by=by)
    if database.shared:
        return ProcrastinateQueue(database, slots, walls, events, limits)
    if slots is None and (neighbours is None or neighbours.is_first):
        raise SettingInvalid("grading_slots", "0 requires PostgreSQL, because with SQLite no other process can grade")
    return EmbeddedQueue(database, slots, walls, events, limits, sole=settings.sole, neighbours=neighbours)


def preparing_of(
    built: Grading, walls: Walls, settings: Settings, say: Callable[[str], None], *, cpu_s: float = CPU_S
) -> Preparer:
    return Preparer(built.grader, walls, say, at_once=settings.grading_slots, cpu_s=cpu_s)


def workers_of(
    database: Database,
    built: Grading | None,
    walls: Walls,
    preparing: list[tuple[Preparer, list[Package]]],
    settings: Settings,
    warnings: Callable[[], tuple[WorkerWarning, ...]] = tuple,
    *,
    is_first: bool = True,
) -> Workers:
    """All processes of the service, with this one."""
    pool_stats = built.pool_stats if built else None
    state = preparing[0][0].state if preparing else None
    by = process_of(settings)
    own = OwnWorker(by, settings.grading_slots, walls, pool_stats, state, warnings, is_first=is_first)
    return Workers(database, own)


def jobs_of(validator: Validator, built: Grading, store: PackageStore) -> list[Jobs[Any]]:
    """All work of a process that grades, except submissions."""
    return [*validator.jobs, *Explorer(built.grader, store).jobs, *LessonRunner(built.grader).jobs]


def process_of(settings: Settings) -> GradingProcess:
    """This process, as its leases and its row name it."""
    return GradingProcess(settings.worker_name, grader_code())


def _queue_limits(settings: Settings) -> QueueLimits:
    return QueueLimits(
        slots=settings.grading_slots,
        lease_s=settings.lease_s,
        retry_s=settings.retry_s,
        max_tries=settings.max_tries,
        max_deaths=settings.max_deaths,
    )
