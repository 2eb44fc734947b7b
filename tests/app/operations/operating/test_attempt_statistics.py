"""Counts of the attempts table, on each database."""

from datetime import timedelta
from pathlib import Path

import pytest
import yaml
from sqlalchemy import select, text, update

from app.accounts.models import UserRow
from app.accounts.service import User
from app.core.clock import now
from app.grading.queue.models import AttemptRow
from app.operations.operating.attempt_statistics import AttemptStatistics, Ended, waiting
from tests.app.grading.attempts.handing_in import accepted, hand_in

pytestmark = pytest.mark.anyio
ADA = User(id="a" * 32, name="ada", role="student")


@pytest.fixture
async def database(each_database):
    async with each_database.writing() as session:
        session.add(UserRow(id=ADA.id, name=ADA.name, role=ADA.role, created_at=now()))
    return each_database


async def test_each_attempt_is_given_out_once(database):
    tally = AttemptStatistics(database)
    assert await tally.new() == []
    verdict = accepted(90.0)
    for _ in range(3):
        await hand_in(database, ADA, verdict)
    timings = verdict.timings_ms.model_dump()
    assert await tally.new() == [Ended("attempt", "accepted", None, timings)] * 3
    assert await tally.new() == []
    await hand_in(database, ADA, verdict, kind="run")
    assert [each.kind for each in await tally.new()] == ["run"]


async def test_one_that_is_stored_late_is_not_missed(database):
    tally = AttemptStatistics(database)
    tally._began -= timedelta(minutes=5)
    await tally.new()
    await hand_in(database, ADA, accepted(90.0))
    async with database.writing() as session:
        await session.execute(update(AttemptRow).values(finished_at=now() - timedelta(seconds=30)))
    assert len(await tally.new()) == 1
    assert await tally.new() == []


async def test_one_that_is_graded_again_counts_again(database):
    tally = AttemptStatistics(database)
    await hand_in(database, ADA, accepted(90.0))
    assert len(await tally.new()) == 1
    async with database.writing() as session:
        await session.execute(update(AttemptRow).values(finished_at=now()))
    assert len(await tally.new()) == 1


async def test_an_empty_queue_has_no_lines(database):
    assert (await waiting(database)).lines == {}
    assert (await waiting(database)).running == 0


async def test_what_kubernetes_scales_workers_by_is_how_many_wait_and_run(database):
    manifests = Path(__file__).resolve().parents[4] / "deploy" / "kubernetes" / "scaling.yaml"
    [scaled] = [each for each in yaml.safe_load_all(manifests.read_text()) if each["kind"] == "ScaledObject"]
    [trigger] = scaled["spec"]["triggers"]
    for _ in range(4):
        await hand_in(database, ADA, accepted(90.0))
    statuses = ["queued", "running", "finished", "cancelled"]
    async with database.writing() as session:
        for row, status in zip((await session.scalars(select(AttemptRow))).all(), statuses, strict=True):
            row.status = status
    async with database.reading() as session:
        assert await session.scalar(text(trigger["metadata"]["query"])) == 2
