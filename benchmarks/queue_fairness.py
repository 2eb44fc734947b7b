"""Measure how long a classmate's attempt waits behind a user who keeps a thousand runs queued.

Ten others with a live picture keep one run queued each. An exploration for a TPU, a validation and an attempt that
waits for its next try stay queued all the time, as on a machine that cannot do them.

    python -m benchmarks.queue_fairness                              on SQLite
    python -m benchmarks.queue_fairness postgresql://…               on an empty PostgreSQL

Nothing is executed: each grading takes 20 ms, in one slot.
"""

import asyncio
import sys
import tempfile
import time
from collections import Counter
from datetime import timedelta
from pathlib import Path

from app.accounts.models import UserRow
from app.authoring.models import ValidationRow
from app.core.clock import now
from app.core.database import Database
from app.core.ids import new_id
from app.core.migrate import migrate
from app.core.settings import CHECKOUT, Settings
from app.entry.assembly import Grading, pick_events, pick_queue
from app.grading.queue.events import Change
from app.grading.queue.fair_share import VALIDATIONS
from app.grading.queue.models import AttemptRow
from app.grading.queue.null_grader import NullGrader
from app.grading.queue.protocol import GradeQueue
from app.grading.queue.walls import Walls
from app.learning.explorer.models import ExplorationRow
from app.problems.package_store import PackageStore
from grader.core.context import QUIET, Context
from grader.package.package import Package
from grader.review.reader import read_package
from grader.verdicts.verdict import Verdict

_RUNS = 1000
_LIVE = tuple(f"live-{number}" for number in range(10))
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
        session.add_all(
            [UserRow(id=name, name=name, role="student", created_at=now()) for name in ("one", "other", *_LIVE)]
        )
    await _hold_up(database, queue, package)
    for start in range(0, _RUNS, 100):
        await _hand_in(database, queue, package, "one", "run", 100)
        print(f"{start + 100} runs wait", file=sys.stderr)
    for name in _LIVE:
        await _hand_in(database, queue, package, name, "run", 1)
    # The users whose runs were graded, in order.
    graded: list[str] = []
    added: set[asyncio.Task[None]] = set()

    async def again(attempt_id: str) -> None:
        async with database.reading() as session:
            user = (await session.get_one(AttemptRow, attempt_id)).user_id
        graded.append(user)
        if user != "other":
            await _hand_in(database, queue, package, user, "run", 1)

    def on_change(attempt_id: str, change: Change) -> None:
        if change.status == "finished":
            added.add(asyncio.create_task(again(attempt_id)))

    events.watch_here(on_change)
    tasks = [asyncio.create_task(each) for each in (queue.work(), *(loop.run() for loop in events.loops))]
    await asyncio.sleep(2)
    # Like everyone else, the classmate has just been served.
    await _wait(database, (await _hand_in(database, queue, package, "other", "run", 1))[0])
    before, began = len(graded), time.monotonic()
    [attempt] = await _hand_in(database, queue, package, "other", "attempt", 1)
    ended = "had its verdict" if await _wait(database, attempt) else "still waited"
    took_s = time.monotonic() - began
    others = Counter(each for each in graded[before:] if each != "other")
    print(
        f"The attempt {ended} after {took_s:.2f} s. Meanwhile, {others.total()} runs of {len(others)} others were "
        f"graded, at most {max(others.values(), default=0)} of one of them."
    )
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


async def _hold_up(database: Database, queue: GradeQueue, package: Package) -> None:
    """Queue work that nobody takes, before everything else."""
    chip = ExplorationRow(id=new_id(), user_id="one", digest="d", source="x", chip="v5e", created_at=now())
    validation = ValidationRow(id=new_id(), version=package.version, share=VALIDATIONS, steps=[], total=1)
    validation.created_at = now()
    [failed] = await _hand_in(database, queue, package, _LIVE[0], "attempt", 1)
    async with database.writing() as session:
        for each in (chip, validation):
            await queue.enqueue(session, each)
        (await session.get_one(AttemptRow, failed)).not_before = now() + timedelta(days=1)


async def _wait(database: Database, attempt_id: str) -> bool:
    """Whether the attempt has ended within the limit."""
    until = time.monotonic() + _LIMIT_S
    while await _status(database, attempt_id) != "finished":
        if time.monotonic() > until:
            return False
        await asyncio.sleep(0.005)
    return True


async def _status(database: Database, attempt_id: str) -> str:
    async with database.reading() as session:
        return (await session.get_one(AttemptRow, attempt_id)).status


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        url = sys.argv[1] if len(sys.argv) > 1 else f"sqlite+aiosqlite:///{Path(folder) / 'line.sqlite3'}"
        asyncio.run(_measure(Database(url)))
