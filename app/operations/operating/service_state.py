"""The state of the service for its owners: the queue, the pool, the walls, and what is unhealthy with its remedy."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from app.core.clock import now
from app.core.database import Database
from app.core.services import Provided
from app.core.settings import Settings
from app.core.web.proxies import Clients
from app.grading.queue.fair_share import kinds_of_work
from app.grading.queue.local_judge import LocalJudge
from app.grading.queue.models import AttemptRow
from app.grading.queue.preparation import Preparation
from app.grading.queue.standstill import NOT_CONNECTED, RESTART, ago, outdated_words, standstill_of
from app.grading.queue.walls import Walls
from app.grading.queue.workers import Worker, Workers, WorkerWarning
from app.operations.operating.attempt_statistics import Waiting, waiting
from app.problems.catalogue import Catalogue

if TYPE_CHECKING:
    from grader.sandbox.pool import PoolStats

_LONG_WAIT_S = 300
_RECENT = timedelta(hours=1)
_LEAST_FREE_BYTES = 1 << 30
# docs/operating.md asks for this much.
_CLOCK_AGREES_S = 1.0
ALL_ONE_ADDRESS = "All clients seem to have one address."


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something unhealthy, and what to do about it."""

    what: str
    remedy: str


@dataclass(frozen=True, slots=True)
class QueueLine:
    name: str
    depth: int
    oldest_s: float


@dataclass(frozen=True, slots=True)
class ServiceState:
    """`pool` is None if this process has none. `walls` maps each wall's name to whether it is up."""

    lines: tuple[QueueLine, ...]
    running: int
    pool: "PoolStats | None"
    warm: tuple[tuple[str, int], ...]
    walls: dict[str, bool]
    workers: tuple[Worker, ...]
    preparation: Preparation | None
    troubles: tuple[Trouble, ...]


async def read_state(
    database: Provided[Database],
    settings: Provided[Settings],
    catalogue: Provided[Catalogue],
    walls: Provided[Walls],
    workers: Provided[Workers],
    judge: Provided[LocalJudge],
) -> ServiceState:
    queue = await waiting(database)
    processes = await workers.all()
    pool = judge.pool_stats()
    troubles = [
        *_of_walls(walls),
        *_of_workers(processes, workers),
        *_of_pool(pool),
        *_of_queue(queue, settings),
        *await _of_attempts(database),
        *_of_settings(settings),
        *(
            Trouble(f"A problem is not served: {fault}", "Correct the file, then restart the server.")
            for fault in catalogue.faults
        ),
    ]
    slugs = {each.version: each.slug for each in catalogue.all()}
    return ServiceState(
        lines=tuple(
            QueueLine(kind.plural, line.depth, line.oldest_s)
            for kind in kinds_of_work()
            if (line := queue.lines.get(kind.name))
        ),
        running=queue.running,
        pool=pool,
        warm=tuple(sorted((slugs.get(version, version[:12]), count) for version, count in pool.warm.items()))
        if pool
        else (),
        walls=walls.states,
        workers=tuple(each for each in processes if each.slots),
        preparation=judge.preparation(),
        troubles=tuple(troubles),
    )


def _of_walls(walls: Walls) -> Sequence[Trouble]:
    return [Trouble(f"The wall {each['wall']} is missing: {each['found']}", each["remedy"]) for each in walls.missing]


def warnings_of(clients: Clients) -> tuple[WorkerWarning, ...]:
    """What a server notices of its requests."""
    if (address := clients.one_address) is None:
        return ()
    return (
        WorkerWarning(
            f"{ALL_ONE_ADDRESS} It is {address}, so everyone shares the limits of one address.",
            f"If {address} is your proxy, set MESHGRADE_PROXIES to it, and have the proxy send X-Forwarded-For.",
        ),
    )


def _of_workers(found: Sequence[Worker], workers: Workers) -> Sequence[Trouble]:
    troubles = []
    # What is wrong with a worker that is connected is named below, or by `_of_walls`.
    if (standstill := standstill_of(found)) and not standstill.is_named:
        troubles.append(Trouble(f"{NOT_CONNECTED}, so nothing is graded.", standstill.remedy))
    if workers.write_fault:
        troubles.append(
            Trouble(
                f"The database cannot be written: {workers.write_fault}.",
                "Read the log of this server. Often the database's disk is full.",
            )
        )
    for each in found:
        troubles += _of_worker(each, is_own=each == workers.own)
    return troubles


def _of_worker(worker: Worker, *, is_own: bool) -> Sequence[Trouble]:
    who = f"{'worker' if worker.slots else 'server'} {worker.name}"
    if not worker.is_live:
        return [
            Trouble(
                f"The {who} is gone: it was last seen {ago(worker.seen_s)} ago, and nobody stopped it.",
                "Read its log, then start it again. Other workers take over its attempts.",
            )
        ]
    troubles = [Trouble(each.what, each.remedy) for each in worker.warnings]
    if worker.is_outdated:
        troubles.append(Trouble(f"{outdated_words(worker)}.", RESTART))
    if not is_own:
        # `_of_walls` names those of this server.
        troubles += [
            Trouble(f"The {who} grades nothing. The wall {wall.name} is missing: {wall.found}", wall.remedy)
            for wall in worker.missing
        ]
    if abs(worker.clock_offset_s) > _CLOCK_AGREES_S:
        direction = "ahead of" if worker.clock_offset_s > 0 else "behind"
        troubles.append(
            Trouble(
                f"The clock of the {who} is {abs(worker.clock_offset_s):.1f} s {direction} the database's.",
                "Synchronise the clocks of both machines, for example with chrony.",
            )
        )
    return troubles + [
        Trouble(
            f"The {each.what.replace('_', '-')} of {each.name} failed {each.failures} "
            f"{'time' if each.failures == 1 else 'times'} on {worker.name}: {each.why}",
            "It will be retried. To find the fault, run: ./meshgrade problem check",
        )
        for each in worker.setbacks
    ]


def _of_pool(pool: "PoolStats | None") -> Sequence[Trouble]:
    if pool is None or pool.alive:
        return []
    remedy = "Restart the server. If this happens again, run: ./meshgrade doctor"
    return [Trouble("The pool of runners has stopped.", remedy)]


def _of_queue(queue: Waiting, settings: Settings) -> Sequence[Trouble]:
    oldest = max((each.oldest_s for each in queue.lines.values()), default=0.0)
    if oldest < _LONG_WAIT_S:
        return []
    what = f"Work has waited for {oldest / 60:.0f} minutes"
    if queue.running == 0:
        start = "Start a worker: ./meshgrade worker" if settings.grading_slots == 0 else "Read the log of this server."
        return [Trouble(f"{what}, and nothing is being graded.", start)]
    return [Trouble(f"{what}.", "Add a worker on another machine, or raise MESHGRADE_GRADING_SLOTS.")]


async def _of_attempts(database: Database) -> Sequence[Trouble]:
    row, moment = AttemptRow, now()
    failed = select(func.count()).where(row.finished_at > moment - _RECENT, row.verdict_status == "failed")
    lost = select(func.count()).where(row.status == "running", row.lease_until < moment - timedelta(minutes=1))
    async with database.reading() as session:
        failures, left = await session.scalar(failed) or 0, await session.scalar(lost) or 0
    troubles = []
    if failures:
        troubles.append(
            Trouble(
                f"The grader failed at {failures} {'attempt' if failures == 1 else 'attempts'} within the last hour.",
                "The log has a line for each, with the id of the attempt. Then run: ./meshgrade doctor",
            )
        )
    if left:
        troubles.append(
            Trouble(
                f"{left} running {'attempt has' if left == 1 else 'attempts have'} lost the worker.",
                "Check that a worker is alive: it then takes over within seconds.",
            )
        )
    return troubles


def _of_settings(settings: Settings) -> Sequence[Trouble]:
    troubles = []
    if settings.site is None:
        troubles.append(
            Trouble(
                "The service does not know its address, so its links lack it.",
                "Set MESHGRADE_PUBLIC_URL, for example to https://grader.example.org.",
            )
        )
    elif not settings.listens_here_alone and not settings.site.startswith("https://"):
        troubles.append(
            Trouble(
                "Passwords travel unencrypted, because the address of the service begins with http://.",
                "Put a proxy with TLS in front, and set MESHGRADE_PUBLIC_URL to its https address.",
            )
        )
    free = shutil.disk_usage(settings.data).free
    if free < _LEAST_FREE_BYTES:
        troubles.append(
            Trouble(
                f"The disk of the data folder has {free >> 20} MiB left.", "Delete old backups, or enlarge the disk."
            )
        )
    return troubles
