"""Take work in tests without a queue: attempts one by one, and jobs until the test has seen enough."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import ColumnElement, select

from app.core.database import Database
from app.grading.queue.events import WorkEvents
from app.grading.queue.fair_share import Line, serve
from app.grading.queue.grading_tries import GradingProcess
from app.grading.queue.jobs import Jobs
from app.grading.queue.leases import Lease, Leases
from app.grading.queue.models import AttemptRow
from app.grading.queue.null_grader import NullGrader
from app.grading.queue.protocol import QueueLimits
from app.grading.queue.slots import Slots
from app.grading.queue.walls import Walls
from app.problems.package_store import PackageStore

HERE = GradingProcess("here", "0123456789abcdef jax 0.0.0")


class TakingLeases(Leases):
    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **{"by": HERE, **options})

    async def take(self, *conditions: ColumnElement[bool]) -> Lease | None:
        """Lease the attempt that is first in line."""
        async with self._database.writing() as session:
            for _, attempt_id in await Line([(AttemptRow, conditions)]).first(session):
                row = (await session.scalars(select(AttemptRow).where(AttemptRow.id == attempt_id))).one()
                await serve(session, row)
                return await self.lease(session, row)
        return None

    async def take_new(self, row: AttemptRow) -> Lease:
        """Store an attempt and lease it at once, before the queue of a running service can."""
        async with self._database.writing() as session:
            session.add(row)
            await session.flush()
            await serve(session, row)
            return await self.lease(session, row)

    async def rescued(self, *, max_deaths: int, everything: bool) -> int:
        async with self._database.writing() as session:
            return await self.rescue(session, max_deaths=max_deaths, everything=everything)


def renew_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Notice within milliseconds that a lease is lost, although none runs out during a test."""
    monkeypatch.setattr("app.core.lease._RENEWALS", 1000)


def never_renew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not notice that a lease is lost."""
    monkeypatch.setattr("app.core.lease._RENEWALS", 0.001)


def slots_for(
    database: Database,
    jobs: Sequence[Jobs[Any]] = (),
    *,
    walls: Walls | None = None,
    slots: int = 1,
    events: WorkEvents | None = None,
) -> Slots:
    limits = QueueLimits(slots=slots, lease_s=30.0, retry_s=2.0, max_tries=3, max_deaths=2)
    walls, events = walls or Walls.elsewhere(), events or WorkEvents()
    return Slots(database, NullGrader(), PackageStore(database), walls, events, limits, jobs=jobs, by=HERE)


def doing(
    database: Database, jobs: Sequence[Jobs[Any]], *, walls: Walls | None = None, events: WorkEvents | None = None
) -> asyncio.Task[None]:
    """Do these jobs until the task is cancelled."""
    slots = slots_for(database, jobs, walls=walls, events=events)

    async def do(long: bool) -> None:
        while True:
            async with database.writing() as session:
                await slots.rescue(session)
            if (taken := await slots.take(long=long)) is not None:
                await slots.do(taken)
            await asyncio.sleep(0.02)

    async def both() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(do(False))
            if slots.has_long:
                group.create_task(do(True))

    return asyncio.create_task(both())
