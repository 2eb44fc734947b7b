"""Workers in this process, beside a service that shares its PostgreSQL with them."""

from contextlib import asynccontextmanager

import pytest

from app.core.settings import Settings
from app.entry.assembly import Grading
from app.entry.worker import open_worker
from app.grading.queue.null_grader import NullGrader
from tests.app.conftest import WallState


@pytest.fixture
def start_worker(workers_url, tmp_path):
    """A function that starts a worker, which grades with `grader`. `seen` gets the secret that the worker was given."""

    @asynccontextmanager
    async def start(grader=None, *, wall_up=True, seen=None, name="worker", database_url=workers_url):
        def grading(data, settings):
            if seen is not None:
                seen.append(data.judging_secret)
            return Grading(grader or NullGrader(), lambda: [WallState(up=wall_up)])

        settings = Settings(database_url=database_url, grading_slots=1, lease_s=10, drain_s=0, worker_name=name)
        async with open_worker(settings, tmp_path / name, grading=grading):
            yield

    return start
