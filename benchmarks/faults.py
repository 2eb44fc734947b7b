"""The faults that `fault_injection` causes: processes are killed, paused and restarted, and a disk fills up."""

import asyncio
import errno
import math
import os
import random
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import httpx
from sqlalchemy import select

from app.core.clock import now
from app.core.database import UNAVAILABLE, Database
from app.grading.queue.models import AttemptRow
from benchmarks.errors import BenchmarkFailed
from benchmarks.fleet import GRADES, Fleet
from benchmarks.workload import CALL_SLUG

LOOK_S = 0.2
_TELL_S = 10.0
# The pause of a reader between two pages.
_THINK_S = 10.0
_FULL_S = 10.0
_FILL_BYTES = 1 << 20
# Refuse to fill a file system larger than this, since it was probably not made for the purpose.
_LARGEST_DISK = 4 << 30
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """`limit_s`: an attempt without a verdict by then counts as lost. `hand_in_s`: no new submissions after that."""

    count: int
    workers: int
    module: str
    kill_every_s: float
    restarts: int
    lease_s: float
    limit_s: float
    hand_in_s: float = math.inf
    pause_every_s: float = math.inf
    database_restarts: int = 0
    readers: int = 0
    connections: int | None = None
    full_disks: int = 0
    disk: Path | None = None

    @property
    def users(self) -> int:
        return max(1, min(100, self.count // 3))


@dataclass(slots=True)
class Run:
    """What has happened so far. `attempts` maps each Idempotency-Key to the id of its attempt."""

    attempts: dict[str, str] = field(default_factory=dict)
    handed_in: int = 0
    ended: int = 0
    sent_again: set[str] = field(default_factory=set)
    kills: int = 0
    restarts: int = 0
    pauses: int = 0
    database_restarts: int = 0
    full_disks: int = 0
    # How often PostgreSQL ended on a full disk and was started again.
    database_ends: int = 0
    # Milliseconds of each page that a reader got, and how many requests had no answer or got 503.
    pages_ms: list[float] = field(default_factory=list)
    pages_missed: int = 0
    # By attempt and try: when the first worker was killed while this try was running.
    interrupted: dict[tuple[str, int], datetime] = field(default_factory=dict)


@asynccontextmanager
async def troubled(
    plan: Plan, run: Run, whole: Fleet, database: Database, readers: list[str], say: Say
) -> AsyncIterator[None]:
    """Cause the faults of the plan until the block ends. An error in one of these tasks also ends the block."""
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(each)
            for each in (
                _kill_workers(plan, run, whole, database),
                _restart_api(plan, run, whole, say),
                _restart_database(plan, run, whole, say),
                _fill_disk(plan, run, whole, say),
                *([_pause_workers(plan, run, whole)] if math.isfinite(plan.pause_every_s) else []),
                *(_read(run, whole.address, token) for token in readers),
                _tell(plan, run, say),
            )
        ]
        yield
        for task in tasks:
            task.cancel()


async def _kill_workers(plan: Plan, run: Run, whole: Fleet, database: Database) -> None:
    chance = random.Random(1)
    while True:
        await asyncio.sleep(plan.kill_every_s)
        # Kill only a worker that is grading, since one that is still starting holds no attempt. And spare the last
        # one: if a start took longer than the time between two kills, the first worker that is up would always be
        # killed next, and nothing would be graded.
        grading = [each for each in whole.workers if each.said(GRADES)]
        if len(grading) < min(2, plan.workers):
            continue
        worker = chance.choice(grading)
        moment = now()
        worker.kill()
        worker.start()
        run.kills += 1
        # While the database is away, there is no way to tell what this worker was grading.
        with suppress(*UNAVAILABLE):
            async with database.reading() as session:
                running = await session.execute(
                    select(AttemptRow.id, AttemptRow.tries).where(AttemptRow.status == "running")
                )
                # Most of these tries belong to workers that are still alive: only a try that is followed by another
                # was cut short. Keep the first kill during each try, since a try is shorter than the time between
                # two kills.
                for attempt_id, tries in running:
                    run.interrupted.setdefault((attempt_id, tries), moment)


async def _restart_api(plan: Plan, run: Run, whole: Fleet, say: Say) -> None:
    for number in range(1, plan.restarts + 1):
        while run.ended < plan.count * number // (plan.restarts + 1):
            await asyncio.sleep(LOOK_S)
        whole.api.kill()
        whole.api.start()
        run.restarts += 1
        say(f"the API was killed and is started again, {number} of {plan.restarts}")


async def _pause_workers(plan: Plan, run: Run, whole: Fleet) -> None:
    """Pause workers, as if their machines slept: another one takes over, and later results of the first don't count."""
    chance = random.Random(2)
    while True:
        await asyncio.sleep(plan.pause_every_s)
        grading = [each for each in whole.workers if each.said(GRADES)]
        if len(grading) < min(2, plan.workers):
            continue
        worker = chance.choice(grading)
        worker.pause()
        run.pauses += 1
        await asyncio.sleep(2 * plan.lease_s)
        worker.resume()


async def _restart_database(plan: Plan, run: Run, whole: Fleet, say: Say) -> None:
    for number in range(1, plan.database_restarts + 1):
        while run.ended < plan.count * number // (plan.database_restarts + 1):
            await asyncio.sleep(LOOK_S)
        await asyncio.to_thread(whole.restart_database)
        run.database_restarts += 1
        say(f"PostgreSQL was restarted, {number} of {plan.database_restarts}")


async def _fill_disk(plan: Plan, run: Run, whole: Fleet, say: Say) -> None:
    """Keep the disk full for ten seconds. If PostgreSQL has ended by itself, start it again, as an operator would."""
    for number in range(1, plan.full_disks + 1):
        while run.ended < plan.count * number // (plan.full_disks + 1):
            await asyncio.sleep(LOOK_S)
        assert plan.disk is not None
        filler = plan.disk / "filler"
        until = time.monotonic() + _FULL_S
        try:
            while time.monotonic() < until:
                # Fill what the database frees meanwhile, too.
                await asyncio.to_thread(_fill, filler)
                await asyncio.sleep(LOOK_S)
        finally:
            filler.unlink()
        run.full_disks += 1
        was_running = await asyncio.to_thread(whole.start_database)
        run.database_ends += not was_running
        ended = "" if was_running else "; PostgreSQL had ended and was started"
        say(f"the disk was full for {_FULL_S:g} s, {number} of {plan.full_disks}{ended}")


def _fill(filler: Path) -> None:
    with filler.open("ab", buffering=0) as file:
        for size in (_FILL_BYTES, 1 << 12):
            with suppress(_DiskFull):
                while True:
                    _append(file.fileno(), size)


class _DiskFull(Exception):
    """The disk is full."""


def _append(file: int, size: int) -> None:
    try:
        if os.write(file, bytes(size)) < size:
            raise _DiskFull
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise _DiskFull from None


def check_disk(folder: Path) -> None:
    """Check the folder. Raises `BenchmarkFailed` unless it is a small file system of its own, which may be filled."""
    size = os.statvfs(folder)
    if not folder.is_mount() or size.f_blocks * size.f_frsize > _LARGEST_DISK:
        raise BenchmarkFailed(
            f"{folder} will be filled, so it must be a file system of its own, of at most {_LARGEST_DISK >> 30} GiB. "
            f"Make one with: mount -t tmpfs -o size=400m tmpfs {folder}"
        )


async def _read(run: Run, address: str, token: str) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=address, headers=headers, timeout=30) as client:
        while True:
            for path in ("/problems", f"/problems/{CALL_SLUG}", "/attempts"):
                began = time.perf_counter()
                try:
                    answer = await client.get(path)
                except httpx.TransportError:
                    run.pages_missed += 1
                else:
                    if answer.status_code == 200:
                        run.pages_ms.append(1000 * (time.perf_counter() - began))
                    elif answer.status_code == 503:
                        run.pages_missed += 1
                    else:
                        raise BenchmarkFailed(f"GET {path} was answered with {answer.status_code}: {answer.text[:500]}")
                await asyncio.sleep(_THINK_S)


async def _tell(plan: Plan, run: Run, say: Say) -> None:
    while True:
        await asyncio.sleep(_TELL_S)
        say(f"{run.ended} of {plan.count} have ended, {run.handed_in} are submitted; {run.kills} workers were killed")
