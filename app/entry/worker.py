"""Assembles a worker: a process that grades and serves nothing. It never imports JAX."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from app.authoring.validator import Validator
from app.core.background_loop import Activity
from app.core.data_folder import DataFolder
from app.core.database import Database
from app.core.database_roles import require_rights_of_worker
from app.core.migrate import require_schema
from app.core.settings import Settings
from app.entry.assembly import (
    Grading,
    build_grading,
    jobs_of,
    notice_ends,
    pick_events,
    pick_queue,
    preparing_of,
    quiet,
    share_answers,
    workers_of,
    working,
)
from app.grading.queue.deployment_secret import shared_judging_secret
from app.grading.queue.walls import Walls
from app.problems.package_store import PackageStore

_LOOK_FOR_SECRET_S = 2.0
# For references after the start. It is more than a server's, because nobody opens a page of a worker.
_CPU_S = 145.0


@asynccontextmanager
async def open_worker(
    settings: Settings,
    folder: Path,
    *,
    grading: Callable[[DataFolder, Settings], Grading] = build_grading,
    say: Callable[[str], None] = quiet,
) -> AsyncIterator[None]:
    """Run a worker: a process that grades and serves nothing. On exit it drains.

    Args:
      folder: a private folder for its caches.
    Raises:
      StartRefused: the database or the folder cannot be used, or a wall is missing.
    """
    async with AsyncExitStack() as stack:
        data = stack.enter_context(DataFolder(folder))
        database = Database(settings.database, connections=settings.database_connections)
        stack.push_async_callback(database.close)
        await require_schema(database)
        await require_rights_of_worker(database)
        data.judging_secret = await _wait_for_secret(database, say)
        built = grading(data, settings)
        stack.callback(built.close)
        share_answers(built, database)
        walls = Walls(built.probe)
        await asyncio.to_thread(walls.probe)
        walls.require_at_start()
        store, events = PackageStore(database), pick_events(database, settings)
        validator = Validator(database, built.grader, store, walls)
        jobs = jobs_of(validator, built, store)
        queue = pick_queue(database, built, store, walls, events, settings, jobs)
        packages = [await store.get(version) for version in (await store.published()).values()]
        preparing = [(preparing_of(built, walls, settings, say, cpu_s=_CPU_S), packages)]
        workers = workers_of(database, built, walls, preparing, settings)
        activity = Activity()
        activity.watch(validator.loop)
        notice_ends(events, activity)
        async with working(queue, events, workers, preparing, [validator.loop], grace_s=settings.drain_s):
            yield


async def _wait_for_secret(database: Database, say: Callable[[str], None]) -> bytes:
    """The judging secret, once a server has stored it. A worker never draws one, or it would override that."""
    announced = False
    while (secret := await shared_judging_secret(database)) is None:
        if not announced:
            say("Waiting for the server to start on this database for the first time.")
            announced = True
        await asyncio.sleep(_LOOK_FOR_SECRET_S)
    return secret
