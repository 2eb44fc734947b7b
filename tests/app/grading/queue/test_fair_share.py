"""Turns and places in the queue: on both databases, and by index however long the queue."""

from datetime import timedelta

import pytest
from sqlalchemy import event, insert, text, update

from app.accounts.models import UserRow
from app.authoring.models import ValidationRow
from app.core.clock import now
from app.grading.queue.fair_share import REJUDGES, VALIDATIONS, back_off, line_up
from app.grading.queue.jobs import Jobs
from app.grading.queue.leases import Leases, failed_verdict
from app.grading.queue.models import AttemptRow, WorkerRow
from app.grading.queue.queue_places import Places
from app.grading.queue.slots import LeasedJob
from app.grading.queue.status import QueuePlace
from app.learning.explorer.models import ExplorationRow
from app.learning.lessons.models import LessonRunRow
from app.problems.models import PackageRow
from tests.app.grading.queue.taking import HERE, TakingLeases, slots_for

pytestmark = pytest.mark.anyio
PEOPLE = "ada", "bob", "cyd"


@pytest.fixture
async def database(owners_database):
    async with owners_database.writing() as session:
        session.add_all(
            [UserRow(id=name, name=name, role="student", created_at=now()) for name in ("ada", "bob", "cyd")]
        )
    return owners_database


@pytest.fixture
def leases(database):
    return TakingLeases(database, lease_s=30, retry_s=30)


async def hand_in(database, attempt_id, user="ada", kind="attempt", **columns):
    row = AttemptRow(
        id=attempt_id, user_id=user, problem="p", version="v", kind=kind, source="x", created_at=now(), **columns
    )
    async with database.writing() as session:
        await line_up(session, row)


async def order(leases):
    """Which attempts are taken, one after the other, each after the previous one has finished."""
    taken = []
    while lease := await leases.take():
        taken.append(lease.attempt_id)
        await leases.finish(lease, failed_verdict("p", "v", "said"))
    return taken


async def serve_one(leases):
    lease = await leases.take()
    await leases.finish(lease, failed_verdict("p", "v", "said"))
    return lease.attempt_id


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


async def test_who_sends_one_at_a_time_overtakes_nobody_twice(database, leases):
    await hand_in(database, "a0", "ada")
    await hand_in(database, "a1", "ada")
    taken = []
    # Bob and Cyd each send a run as soon as their last one has been graded.
    for number in range(4):
        for user in ("bob", "cyd"):
            await hand_in(database, f"{user}{number}", user, "run")
            taken.append(await serve_one(leases))
    # Bob and Cyd have one turn before her first attempt. Before the second, only Bob has: Cyd's second run came later.
    assert (taken.index("a0"), taken.index("a1")) == (2, 4)


async def test_a_newcomer_joins_the_round_that_is_being_served(database, leases):
    for number in range(20):
        await hand_in(database, f"a{number}", "ada")
    for _ in range(10):
        await serve_one(leases)
    await hand_in(database, "b0", "bob")
    await hand_in(database, "b1", "bob")
    assert [await serve_one(leases) for _ in range(4)] == ["a10", "b0", "a11", "b1"]


async def test_what_was_graded_while_nobody_else_waited_is_not_held_against_anybody(database, leases):
    for number in range(5):
        await hand_in(database, f"a{number}", "ada")
        await serve_one(leases)
    await hand_in(database, "b0", "bob")
    await hand_in(database, "a5", "ada")
    await hand_in(database, "b1", "bob")
    assert await order(leases) == ["b0", "a5", "b1"]


async def test_a_slot_goes_to_the_user_with_the_least_running(database, leases):
    for number in range(3):
        await hand_in(database, f"a{number}", "ada")
    assert [(await leases.take()).attempt_id for _ in range(2)] == ["a0", "a1"]
    for number in range(3):
        await hand_in(database, f"b{number}", "bob")
    # Ada has two running until the end, and the first place in line.
    assert [(await leases.take()).attempt_id for _ in range(4)] == ["b0", "b1", "a2", "b2"]


async def test_a_newcomer_waits_for_one_piece_even_of_a_user_who_waited(database, leases):
    for number in range(12):
        await hand_in(database, f"a{number}", "ada")
    long = await leases.take()
    for number in range(10):
        await hand_in(database, f"b{number}", "bob")
    # All of Bob's, because Ada has one running.
    assert [await serve_one(leases) for _ in range(10)] == [f"b{number}" for number in range(10)]
    await leases.finish(long, failed_verdict("p", "v", "said"))
    await hand_in(database, "c0", "cyd")
    await hand_in(database, "b10", "bob")
    # Ada's first one is overdue. Bob's comes before her second.
    assert [await serve_one(leases) for _ in range(4)] == ["a1", "c0", "b10", "a2"]


async def test_within_a_round_runs_go_before_attempts_and_rejudges_last(database, leases):
    await hand_in(database, "j0", "ada", "rejudge", share=REJUDGES)
    await hand_in(database, "a0", "ada")
    await hand_in(database, "b0", "bob", "run")
    await hand_in(database, "j1", "bob", "rejudge", share=REJUDGES)
    await hand_in(database, "a1", "ada", "run")
    assert await order(leases) == ["b0", "a0", "j0", "a1", "j1"]


async def test_a_rejudge_waits_for_one_piece_of_each_user(database, leases):
    await hand_in(database, "j0", "ada", "rejudge", share=REJUDGES)
    for number in range(30):
        for user in ("ada", "bob"):
            await hand_in(database, f"{user}{number}", user)
    assert (await order(leases)).index("j0") == 2


async def test_each_network_of_guests_has_a_share(database, leases):
    for number in range(3):
        await hand_in(database, f"n{number}", "ada", "run", share="a network", guest="x")
    await hand_in(database, "m0", "ada", "run", share="another network", guest="y")
    await hand_in(database, "b0", "bob", "run")
    # Within a round, a guest's run has the place of an attempt.
    assert await order(leases) == ["b0", "n0", "m0", "n1", "n2"]


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
        QueuePlace(ahead=ahead, expected_wait_s=None) for ahead in (0, 1, 2)
    ]
    await hand_in(database, "c0", "cyd", "run")
    assert await place(database, "a1") == QueuePlace(ahead=3, expected_wait_s=None)


async def connect(database):
    """A worker that can grade. Without one, nobody knows how long anything waits."""
    row = {"id": "w", "name": "w", "version": "0.1.0", "code": "c", "slots": 1, "can_grade": True}
    async with database.writing() as session:
        moment = {"started_at": now(), "seen_at": now()}
        session.add(WorkerRow(**row, **moment, clock_offset_s=0.0, walls=[], setbacks=[], warnings=[]))


async def test_without_a_worker_there_is_no_expected_wait(database, leases):
    await hand_in(database, "a0")
    await leases.finish(await leases.take(), failed_verdict("p", "v", "said"))
    await hand_in(database, "a1")
    assert await place(database, "a1") == QueuePlace(ahead=0, expected_wait_s=None, workers=0)
    await connect(database)
    assert (await place(database, "a1")).expected_wait_s == 0


async def test_the_wait_is_that_of_the_latest_gradings(database, leases):
    await connect(database)
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
    assert (await place(database, "r4")) == QueuePlace(ahead=2, expected_wait_s=31, workers=1)  # 3 x 10.1
    await leases.take()
    assert (await place(database, "r4")) == QueuePlace(ahead=1, expected_wait_s=11, workers=1)  # two are busy


async def test_an_attempt_that_backs_off_waits_at_least_that_long(database, leases):
    await connect(database)
    await hand_in(database, "a0")
    await leases.finish(await leases.take(), failed_verdict("p", "v", "said"))
    await hand_in(database, "a1")
    await leases.try_later(await leases.take())
    assert (await place(database, "a1")).expected_wait_s == 30


async def add_of_each_kind(database):
    """One piece of work of each kind, by different users, the last of the order first."""
    async with database.writing() as session:
        session.add(PackageRow(version="v", slug="p", files={}, created_at=now()))
    common = {"created_at": now(), "source": "x"}
    rows = [
        AttemptRow(id="rejudge", user_id="ada", problem="p", version="v", kind="rejudge", share=REJUDGES, **common),
        ValidationRow(id="validation", version="v", share=VALIDATIONS, steps=[], total=1, created_at=now()),
        AttemptRow(id="attempt", user_id="ada", problem="p", version="v", kind="attempt", **common),
        LessonRunRow(id="lesson run", user_id="bob", lesson="l", program=1, **common),
        ExplorationRow(id="exploration", user_id="cyd", digest="d", **common),
        # Each user's second piece is in the second round, whatever kind it is.
        AttemptRow(id="second", user_id="cyd", problem="p", version="v", kind="run", **common),
        ExplorationRow(id="third", user_id="cyd", digest="d", **common),
    ]
    async with database.writing() as session:
        for each in rows:
            await line_up(session, each)
            await session.flush()


async def test_all_kinds_of_work_are_in_one_line(database):
    await add_of_each_kind(database)
    began = []

    async def do(job):
        began.append(job.row.id)
        await job.finish()

    jobs = [Jobs(rows, do) for rows in (ExplorationRow, LessonRunRow, ValidationRow)]
    slots = slots_for(database, jobs)
    while (taken := await slots.take()) is not None:
        if isinstance(taken, LeasedJob):
            await slots.do(taken)
        else:
            began.append(taken.attempt_id)
            await Leases(database, 30.0, 2.0, by=HERE).finish(taken, failed_verdict("p", "v", "said"))
    assert began == ["lesson run", "exploration", "attempt", "validation", "rejudge", "second", "third"]


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
    row = dict(user_id="ada", share="ada", problem="p", version="v", kind="attempt", source="x", tries=0)
    moment = now()
    queued = [
        row | {"id": f"q{n:05}", "status": "queued", "priority": 4 * n + 1, "turn_at": moment, "created_at": moment}
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
        # Except the few that run, which are counted for each share.
        assert "Sort" not in plan or "GroupAggregate" in plan
        assert "TEMP B-TREE" not in plan.replace("USE TEMP B-TREE FOR GROUP BY", "")
