"""How long a classmate's attempt waits behind a thousand runs of one user, who adds one whenever one is graded.

    python -m benchmarks.queue_fairness                              on SQLite
    python -m benchmarks.queue_fairness postgresql://…               on an empty PostgreSQL

Nothing is executed: each grading takes 20 ms, in one slot.
"""

import asyncio
import sys
import tempfile
import time
from pathlib import Path

from app.accounts.models import UserRow
from app.core.clock import now
from app.core.database import Database
from app.core.ids import new_id
from app.core.migrate import migrate
from app.core.settings import CHECKOUT, Settings
from app.entry.assembly import Grading, pick_events, pick_queue
from app.grading.queue.events import Change
from app.grading.queue.models import AttemptRow
from app.grading.queue.null_grader import NullGrader
from app.grading.queue.protocol import GradeQueue
from app.grading.queue.walls import Walls
from app.problems.package_store import PackageStore
from grader.core.context import QUIET, Context
from grader.package.package import Package
from grader.review.reader import read_package
from grader.verdicts.verdict import Verdict

_RUNS = 1000
_GRADING_S = 0.02
_LIMIT_S = 120.0


class _Up:
    name, up, found, remedy = "namespaces", True, "", ""


class _Slow(NullGrader):
    def judge(self, package: Package, source: str, context: Context = QUIET, **options: object) -> Verdict:
        time.sleep(_GRADING_S)
        return super().judge(package, source, context, **options)  # type: ignore[arg-type]


async def _measure(database: Database) -> None:
    await migrate(database)
    package = read_package(CHECKOUT / "problems" / "fsdp_step")
    store, walls = PackageStore(database), Walls(lambda: [_Up()])
    await store.add(package)
    walls.probe()
    settings = Settings(grading_slots=1)
    events = pick_events(database, settings)
    queue = pick_queue(database, Grading(_Slow(), lambda: [_Up()]), store, walls, events, settings)
    async with database.writing() as session:
        session.add_all([UserRow(id=name, name=name, role="student", created_at=now()) for name in ("one", "other")])
    for start in range(0, _RUNS, 100):
        await _hand_in(database, queue, package, "one", "run", 100)
        print(f"{start + 100} runs wait", file=sys.stderr)
    graded = 0
    added: set[asyncio.Task[list[str]]] = set()

    def on_change(attempt_id: str, change: Change) -> None:
        nonlocal graded
        if change.status == "finished":
            graded += 1
            added.add(asyncio.create_task(_hand_in(database, queue, package, "one", "run", 1)))

    events.watch_here(on_change)
    tasks = [asyncio.create_task(each) for each in (queue.work(), *(loop.run() for loop in events.loops))]
    await asyncio.sleep(2)
    before, began = graded, time.monotonic()
    [attempt] = await _hand_in(database, queue, package, "other", "attempt", 1)
    while await _status(database, attempt) != "finished" and time.monotonic() - began < _LIMIT_S:
        await asyncio.sleep(0.005)
    took_s = time.monotonic() - began
    ended = "had its verdict" if await _status(database, attempt) == "finished" else "still waited"
    print(f"The attempt {ended} after {took_s:.2f} s. {max(0, graded - before - 1)} runs were graded meanwhile.")
    await queue.stop()
    for task in (*tasks, *added):
        task.cancel()
    await asyncio.gather(*tasks, *added, return_exceptions=True)
    await database.close()


async def _hand_in(
    database: Database, queue: GradeQueue, package: Package, user: str, kind: str, count: int
) -> list[str]:
    ids = [new_id() for _ in range(count)]
    async with database.writing() as session:
        for attempt_id in ids:
            row = AttemptRow(id=attempt_id, user_id=user, problem=package.slug, version=package.version, kind=kind)
            row.source, row.created_at = "x", now()
            await queue.enqueue(session, row)
            await session.flush()
    return ids


async def _status(database: Database, attempt_id: str) -> str:
    async with database.reading() as session:
        return (await session.get_one(AttemptRow, attempt_id)).status


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        url = sys.argv[1] if len(sys.argv) > 1 else f"sqlite+aiosqlite:///{Path(folder) / 'line.sqlite3'}"
        asyncio.run(_measure(Database(url)))
