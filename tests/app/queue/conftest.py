"""Workers in this process, beside a service that shares its PostgreSQL with them."""

from contextlib import asynccontextmanager

import pytest

from app.queue.null import NullGrader
from app.running import Grading
from app.settings import Settings
from app.worker import open_worker
from tests.app.conftest import WallState


@pytest.fixture
def start_worker(shared_url, tmp_path):
    """Start one that grades by `grader`; `seen` gets the secret that it was given."""

    @asynccontextmanager
    async def start(grader=None, *, wall_up=True, seen=None):
        def grading(data, settings):
            if seen is not None:
                seen.append(data.secret)
            return Grading(grader or NullGrader(), lambda: [WallState(up=wall_up)])

        settings = Settings(database_url=shared_url, grading_slots=1, lease_s=3, drain_s=0)
        async with open_worker(settings, tmp_path / "worker", grading=grading):
            yield

    return start
