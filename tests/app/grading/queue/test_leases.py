"""What makes the attempts table a queue: transactions, leases and fence tokens."""

from datetime import datetime, timedelta

import pytest
from sqlalchemy import update

from app.accounts.models import UserRow
from app.core.clock import now
from app.core.database import Database
from app.grading.queue.events import WorkEvents
from app.grading.queue.leases import Lease, failed_verdict
from app.grading.queue.models import AttemptRow
from tests.app.grading.queue.taking import TakingLeases

pytestmark = pytest.mark.anyio
VERDICT = failed_verdict("add_one", "v", "said")


@pytest.fixture
async def database(each_database: Database) -> Database:
    async with each_database.writing() as session:
        session.add(UserRow(id="u", name="u", role="owner", created_at=now()))
    return each_database


@pytest.fixture
def leases(database: Database) -> TakingLeases:
    return TakingLeases(database, lease_s=30, retry_s=0)


async def add(database: Database, attempt_id: str, kind: str = "attempt") -> None:
    async with database.writing() as session:
        session.add(
            AttemptRow(
                id=attempt_id,
                user_id="u",
                problem="add_one",
                version="v",
                kind=kind,
                source="x",
                status="queued",
                tries=0,
                created_at=now(),
            )
        )


async def read(database: Database, attempt_id: str) -> AttemptRow:
    async with database.reading() as session:
        row = await session.get(AttemptRow, attempt_id)
        assert row is not None
        return row


async def expire(database: Database, attempt_id: str) -> None:
    async with database.writing() as session:
        past = now() - timedelta(seconds=1)
        await session.execute(update(AttemptRow).where(AttemptRow.id == attempt_id).values(lease_until=past))


async def test_a_result_is_written_once(database, leases):
    await add(database, "a")
    lease = await leases.take()
    assert await leases.finish(lease, VERDICT)
    assert not await leases.finish(lease, VERDICT)
    assert (await read(database, "a")).status == "finished"


async def test_a_stale_fence_token_changes_nothing(database, leases):
    await add(database, "a")
    stale = await leases.take()
    await expire(database, "a")
    assert await leases.rescued(max_deaths=3, everything=False) == 1
    fresh = await leases.take()
    assert fresh.fence_token != stale.fence_token
    assert not await leases.extend(stale, "still at it")
    assert not await leases.finish(stale, VERDICT)
    assert not await leases.give_back(stale)
    row = await read(database, "a")
    assert (row.status, row.fence_token, row.phase, row.tries) == ("running", fresh.fence_token, "starting", 2)
    assert await leases.finish(fresh, VERDICT)


async def test_a_live_lease_is_not_rescued_but_a_restart_takes_all(database, leases):
    await add(database, "a")
    await leases.take()
    assert await leases.rescued(max_deaths=3, everything=False) == 0
    assert await leases.rescued(max_deaths=3, everything=True) == 1
    assert (await read(database, "a")).status == "queued"


async def test_a_sweep_that_finds_a_dead_worker_reports_each_of_its_attempts(database):
    events, steps = WorkEvents(), []
    events.watch_here(lambda attempt_id, change: steps.append((attempt_id, change.status)))
    leases = TakingLeases(database, 30, 0, events)
    for attempt_id in ("a", "b"):
        await add(database, attempt_id)
        await leases.take()
    await leases.rescued(max_deaths=3, everything=True)
    assert sorted(steps) == [("a", "queued"), ("b", "queued")]
    await leases.take()
    await leases.rescued(max_deaths=2, everything=True)
    assert steps[2:] == [("a", "finished")]


async def test_extending_keeps_a_lease_from_being_rescued(database, leases):
    await add(database, "a")
    lease = await leases.take()
    await expire(database, "a")
    assert await leases.extend(lease, "case 2 of 3")
    assert await leases.rescued(max_deaths=3, everything=False) == 0
    assert (await read(database, "a")).phase == "case 2 of 3"


async def test_a_submission_that_kills_its_workers_is_given_up(database, leases):
    await add(database, "a")
    for _ in range(2):
        await leases.take()
        await leases.rescued(max_deaths=2, everything=True)
    row = await read(database, "a")
    assert (row.status, row.verdict["status"], row.score) == ("finished", "failed", None)
    assert "died 2 times" in row.verdict["stderr"]


async def test_giving_back_uncharged_does_not_count_as_a_try(database, leases):
    await add(database, "a")
    assert await leases.give_back(await leases.take())
    assert (await leases.take()).tries == 1
    assert (await read(database, "a")).tries == 1


async def test_a_row_that_backs_off_is_leased_when_it_is_due(database, leases):
    await add(database, "a")
    await put_off(database, "a", now() + timedelta(minutes=1))
    assert await leases.take() is None
    await put_off(database, "a", now() - timedelta(seconds=1))
    assert isinstance(await leases.take(), Lease)


async def put_off(database: Database, attempt_id: str, due: datetime) -> None:
    async with database.writing() as session:
        await session.execute(update(AttemptRow).where(AttemptRow.id == attempt_id).values(not_before=due))
