"""Turns and places in the queue: on both databases, and by index however long the queue."""

from datetime import timedelta

import pytest
from sqlalchemy import event, insert, text, update

from app.accounts.models import UserRow
from app.clock import now
from app.queue.leases import Leases, failed_verdict
from app.queue.models import AttemptRow
from app.queue.turns import Places, QueuePlace, back_off, line_up

pytestmark = pytest.mark.anyio


@pytest.fixture
async def database(each_database):
    async with each_database.writing() as session:
        session.add_all([UserRow(id=name, name=name, role="student", created_at=now()) for name in ("ada", "bob")])
    return each_database


@pytest.fixture
def leases(database):
    return Leases(database, lease_s=30, retry_s=30)


async def hand_in(database, attempt_id, user="ada", kind="attempt"):
    row = AttemptRow(id=attempt_id, user_id=user, problem="p", version="v", kind=kind, source="x", created_at=now())
    async with database.writing() as session:
        await line_up(session, row)


async def order(leases, **options):
    taken = []
    while lease := await leases.take(**options):
        taken.append(lease.attempt_id)
    return taken


async def place(database, attempt_id):
    async with database.reading() as session:
        row = await session.get_one(AttemptRow, attempt_id)
    return await Places(database).of(row)


async def test_who_hands_in_many_does_not_keep_another_waiting(database, leases):
    for number in range(5):
        await hand_in(database, f"a{number}", "ada")
    await hand_in(database, "b0", "bob")
    await hand_in(database, "b1", "bob")
    assert await order(leases) == ["a0", "b0", "a1", "b1", "a2", "a3", "a4"]


async def test_who_waits_is_not_overtaken_for_ever(database, leases):
    await hand_in(database, "a0", "ada")
    await hand_in(database, "a1", "ada")
    async with database.writing() as session:
        past = now() - timedelta(minutes=5)
        await session.execute(update(AttemptRow).where(AttemptRow.id == "a1").values(turn_at=past))
    await hand_in(database, "b0", "bob")
    assert await order(leases) == ["a1", "a0", "b0"]


async def test_what_was_graded_while_nobody_else_waited_is_not_held_against_anybody(database, leases):
    for number in range(5):
        await hand_in(database, f"a{number}", "ada")
        lease = await leases.take()
        assert await leases.finish(lease, failed_verdict("p", "v", "said"))
    await hand_in(database, "a5", "ada")
    await hand_in(database, "b0", "bob")
    assert await order(leases) == ["a5", "b0"]


async def test_runs_do_not_push_a_users_attempts_back(database, leases):
    for number in range(3):
        await hand_in(database, f"r{number}", "ada", "run")
    await hand_in(database, "a0", "ada")
    await hand_in(database, "b0", "bob")
    assert (await order(leases))[3:] == ["a0", "b0"]


async def test_rejudges_go_last_and_can_be_left_out(database, leases):
    await hand_in(database, "j0", "ada", kind="rejudge")
    await hand_in(database, "a0", "ada")
    await hand_in(database, "r0", "ada", "run")
    assert await order(leases, rejudges=False) == ["r0", "a0"]
    assert await order(leases) == ["j0"]


async def test_after_a_failed_try_it_waits_and_blocks_nobody(database, leases):
    await hand_in(database, "a0", "ada")
    lease = await leases.take()
    again = await leases.try_later(lease)
    assert timedelta(seconds=25) < again - now() <= timedelta(seconds=30)
    await hand_in(database, "b0", "bob")
    assert await order(leases) == ["b0"]


def test_a_try_waits_four_times_as_long_up_to_the_third():
    assert [back_off(2, tries).total_seconds() for tries in (1, 2, 3, 8)] == [2, 8, 32, 32]


async def test_the_place_counts_who_goes_first(database, leases):
    for attempt_id, user, kind in (("a0", "ada", "attempt"), ("a1", "ada", "attempt"), ("b0", "bob", "attempt")):
        await hand_in(database, attempt_id, user, kind)
    assert [await place(database, each) for each in ("a0", "b0", "a1")] == [
        QueuePlace(ahead, None) for ahead in (0, 1, 2)
    ]
    await hand_in(database, "r0", "bob", "run")
    assert await place(database, "a1") == QueuePlace(3, None)


async def test_the_wait_is_that_of_the_latest_gradings(database, leases):
    await hand_in(database, "a0")
    lease = await leases.take()
    async with database.writing() as session:
        earlier = now() - timedelta(seconds=10)
        await session.execute(update(AttemptRow).values(started_at=earlier))
    await leases.finish(lease, failed_verdict("p", "v", "said"))
    for attempt_id in ("r1", "r2", "r3", "r4"):
        await hand_in(database, attempt_id)
    # Nobody is busy: a worker is about to take the first.
    assert (await place(database, "r1")).expected_wait_s == 0
    await leases.take()
    assert await place(database, "r1") is None
    assert (await place(database, "r4")) == QueuePlace(2, 31)  # 3 x 10.something, rounded up
    await leases.take()
    assert (await place(database, "r4")) == QueuePlace(1, 11)  # two are busy


async def test_an_attempt_that_backs_off_waits_at_least_that_long(database, leases):
    await hand_in(database, "a0")
    await leases.finish(await leases.take(), failed_verdict("p", "v", "said"))
    await hand_in(database, "a1")
    await leases.try_later(await leases.take())
    assert (await place(database, "a1")).expected_wait_s == 30


async def plans(database, work):
    """What each SELECT of `work` reads, as the database plans it."""
    seen = []

    def note(connection, cursor, statement, parameters, context, executemany):
        if statement.lstrip().upper().startswith("SELECT"):
            seen.append((statement, parameters))

    event.listen(database.engine.sync_engine, "before_cursor_execute", note)
    await work()
    event.remove(database.engine.sync_engine, "before_cursor_execute", note)
    explain = "EXPLAIN QUERY PLAN " if database.engine.dialect.name == "sqlite" else "EXPLAIN "
    found = []
    async with database.engine.connect() as connection:
        for statement, parameters in seen:
            rows = await connection.exec_driver_sql(explain + statement, parameters)
            found.append("\n".join(str(tuple(row)) for row in rows))
    return found


async def test_a_long_queue_is_never_read_as_a_whole(database, leases):
    row = dict(user_id="ada", problem="p", version="v", kind="attempt", source="x", priority=10, tries=0)
    moment = now()
    queued = [
        row | {"id": f"q{n:05}", "status": "queued", "turn_at": moment + timedelta(minutes=n), "created_at": moment}
        for n in range(3000)
    ]
    done = [
        each | {"id": "d" + each["id"], "status": "finished", "started_at": moment, "finished_at": moment}
        for each in queued
    ]
    async with database.writing() as session:
        await session.execute(insert(AttemptRow), queued)
        await session.execute(insert(AttemptRow), done)
        await session.execute(text("ANALYZE"))

    async def take_and_hand_in():
        assert (await leases.take()).attempt_id == "q00000"
        await hand_in(database, "b0", "bob")
        assert (await place(database, "b0")).ahead in (0, 1)

    read = await plans(database, take_and_hand_in)
    assert len(read) >= 5
    for plan in read:
        assert "SCAN attempts" not in plan.replace("SCAN attempts USING INDEX ix_attempts_finished_at", "")
        assert "Seq Scan on attempts" not in plan
        assert "Sort" not in plan
        assert "TEMP B-TREE" not in plan
