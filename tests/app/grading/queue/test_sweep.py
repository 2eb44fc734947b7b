"""A waiting attempt without a job, as after a restore or a lost job, gets a new one."""

import pytest
from sqlalchemy import text

from app.core.database import Database
from tests.app.grading.attempts.test_submit import ATTEMPTS

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("postgresql")]


async def test_an_attempt_without_a_job_is_graded(start_service, start_worker, shared_url):
    async with start_service(database_url=shared_url, grading_slots=0) as service:
        answer = await service.http.post(ATTEMPTS, json={"source": "x"}, headers=service.bearer)
        async with service.services[Database].writing() as session:
            assert (await session.execute(text("DELETE FROM procrastinate_jobs"))).rowcount == 1
        async with start_worker():
            found = await service.http.get(f"{answer.headers['Location']}?wait=60", headers=service.bearer)
        assert found.json()["status"] == "finished"
        async with service.services[Database].reading() as session:
            # A job that ended is deleted.
            assert await session.scalar(text("SELECT count(*) FROM procrastinate_jobs")) == 0
