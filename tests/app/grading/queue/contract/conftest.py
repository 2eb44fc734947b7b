"""Each backend of `GradeQueue` with a database of its own, and processes that grade for it."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import URL, update

from app.accounts.models import UserRow
from app.core.clock import now
from app.core.database import Database
from app.core.settings import Settings
from app.entry.assembly import Grading, pick_events, pick_queue
from app.grading.queue.models import AttemptRow
from app.grading.queue.null_grader import NullGrader
from app.grading.queue.protocol import GradeQueue
from app.grading.queue.status import ENDED
from app.grading.queue.walls import Walls
from app.learning.lessons.models import LessonRunRow
from app.problems.package_store import PackageStore
from grader.package.package import Package
from tests.app.grading.queue.contract.grading_process import GradingProcess

PEOPLE = "ada", "bob", "cyd"


@dataclass
class Backend:
    """One queue, which this process only fills. `server` is the PostgreSQL behind it, None for SQLite."""

    database: Database
    queue: GradeQueue
    package: Package
    folder: Path
    server: Any
    workers_url: str

    def __post_init__(self) -> None:
        self._ids = count()

    @property
    def log(self) -> Path:
        return self.folder / "log"

    def row(self, source: str, user: str = "ada", kind: str = "attempt") -> AttemptRow:
        return AttemptRow(
            id=f"a{next(self._ids)}",
            user_id=user,
            problem=self.package.slug,
            version=self.package.version,
            kind=kind,
            source=source,
            created_at=now(),
        )

    async def hand_in(self, source: str, user: str = "ada", kind: str = "attempt") -> str:
        row = self.row(source, user, kind)
        async with self.database.writing() as session:
            await self.queue.enqueue(session, row)
        return row.id

    async def ask_for_a_lesson_run(self, source: str, user: str = "ada") -> None:
        row = LessonRunRow(id=f"l{next(self._ids)}", user_id=user, lesson="l", program=1, created_at=now())
        row.source = source
        async with self.database.writing() as session:
            await self.queue.enqueue(session, row)

    async def read(self, attempt_id: str) -> AttemptRow:
        async with self.database.reading() as session:
            row = await session.get(AttemptRow, attempt_id)
        assert row is not None
        return row

    async def ended(self, attempt_id: str) -> AttemptRow:
        """Wait until an attempt has ended, for a minute at most, and return it."""
        async with asyncio.timeout(60):
            while (row := await self.read(attempt_id)).status not in ENDED:
                await asyncio.sleep(0.05)
        return row

    def noted(self, what: str) -> list[str]:
        """The sources that graders `began` or `ended`, in order."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line.split(" ", 3)[3] for line in lines if line.startswith(what)]

    async def began(self, source: str, times: int = 1) -> None:
        async with asyncio.timeout(60):
            while self.noted("began").count(source) < times:
                await asyncio.sleep(0.02)

    def release(self) -> None:
        """Let every `hold` end."""
        self.log.with_name("released").touch()

    async def expire_leases(self) -> None:
        """Let others take what has a lease, as if the lease of a dead or paused process had run out."""
        async with self.database.writing() as session:
            for table in (AttemptRow, LessonRunRow):
                past = now() - timedelta(minutes=1)
                await session.execute(update(table).where(table.fence_token.is_not(None)).values(lease_until=past))

    async def end_back_offs(self) -> None:
        """End all waits for a next try, as if the time had passed."""
        async with self.database.writing() as session:
            await session.execute(update(AttemptRow).values(not_before=None))

    @asynccontextmanager
    async def grading(self, slots: int = 1, **settings: object) -> AsyncIterator[GradingProcess]:
        """Start a process that grades, and kill it when the block ends, if it still lives."""
        values = {
            "database_url": self.workers_url,
            "grading_slots": slots,
            "lease_s": 10,
            "retry_s": 0.1,
            "drain_s": 0,
            "max_deaths": 3,
        } | settings
        process = GradingProcess(self.log, {name: str(value) for name, value in values.items()})
        try:
            await process.until_ready()
            yield process
        finally:
            process.kill()
            await process.wait()


@pytest.fixture(params=["embedded", pytest.param("procrastinate", marks=pytest.mark.xdist_group("contract"))])
def place(request: pytest.FixtureRequest, tmp_path: Path, migrated_database: Path) -> tuple[Database, Any, str]:
    """A database, the PostgreSQL that it is in, and the address for a worker."""
    if request.param == "embedded":
        file = shutil.copy(migrated_database, tmp_path / "queue.sqlite3")
        url = URL.create("sqlite+aiosqlite", database=str(file))
        return Database(url), None, url.render_as_string()
    server, address = request.getfixturevalue("postgres_server"), request.getfixturevalue("workers_url")
    return Database(request.getfixturevalue("shared_url")), server, address


@pytest.fixture
async def backend(place: tuple[Database, Any, str], tmp_path: Path, package: Package) -> AsyncIterator[Backend]:
    database, server, workers_url = place
    async with database.writing() as session:
        session.add_all(
            [UserRow(id=name, name=name, role="student", created_at=now()) for name in ("ada", "bob", "cyd")]
        )
    store, events = PackageStore(database), pick_events(database, Settings())
    await store.add(package)
    built = None if database.shared else Grading(NullGrader(), lambda: ())
    settings = Settings(grading_slots=1 if built else 0, data=tmp_path)
    queue = pick_queue(database, built, store, Walls.elsewhere(), events, settings)
    telling = [asyncio.create_task(each.run()) for each in events.loops]
    yield Backend(database, queue, package, tmp_path, server, workers_url)
    for each in telling:
        each.cancel()
    await asyncio.gather(*telling, return_exceptions=True)
    await database.close()
