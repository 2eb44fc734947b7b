"""Work that waits for long, on both databases: it keeps nobody else waiting, whatever it waits for."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count

import pytest
from sqlalchemy import select, update

from app.accounts.models import UserRow
from app.authoring.models import ValidationRow
from app.core.clock import now
from app.core.database import Database
from app.grading.queue.fair_share import REJUDGES, VALIDATIONS, close_up, forget_shares, line_up
from app.grading.queue.jobs import Jobs
from app.grading.queue.leases import Lease, Leases, cancel_row, failed_verdict
from app.grading.queue.models import AttemptRow, FairShareRow, WorkRow
from app.grading.queue.queue_places import Places
from app.grading.queue.slots import Slots
from app.learning.explorer.models import ExplorationRow
from app.learning.lessons.models import LessonRunRow
from app.problems.models import PackageRow
from tests.app.grading.queue.taking import HERE, slots_for

pytestmark = pytest.mark.anyio
PEOPLE = "ada", "bob", "cyd", "dan"
# Later than any test runs.
LATER = timedelta(days=1)


@dataclass
class Line:
    """Queues work, and takes it in order. Each piece has the name of its user, and a number."""

    database: Database
    slots: Slots
    taken: list[str] = field(default_factory=list)
    numbers: count = field(default_factory=count)

    async def add(self, user: str, kind: str = "attempt", *, chip: str | None = None, **columns) -> str:
        common = {"id": f"{user} {next(self.numbers)}", "created_at": now(), **columns}
        row: WorkRow
        if kind == "validation":
            row = ValidationRow(version="v", share=VALIDATIONS, steps=[], total=1, **common)
        elif kind == "exploration":
            row = ExplorationRow(user_id=user, digest="d", source="x", chip=chip, **common)
        else:
            share = REJUDGES if kind == "rejudge" else None
            row = AttemptRow(user_id=user, share=share, problem="p", version="v", kind=kind, source="x", **common)
        async with self.database.writing() as session:
            await line_up(session, row)
        return row.id

    async def back_off(self, attempt_id: str, due: timedelta = LATER) -> None:
        async with self.database.writing() as session:
            await session.execute(update(AttemptRow).where(AttemptRow.id == attempt_id).values(not_before=now() + due))

    async def take(self, *, long: bool = False):
        """Begin the first piece in line. None if there is none."""
        taken = await self.slots.take(long=long)
        if taken is not None:
            self.taken.append(taken.attempt_id if isinstance(taken, Lease) else taken.job.row.id)
        return taken

    async def finish(self, taken) -> None:
        if isinstance(taken, Lease):
            await Leases(self.database, 30.0, 2.0, by=HERE).finish(taken, failed_verdict("p", "v", "said"))
        else:
            await taken.job.finish()

    async def serve(self, *, long: bool = False) -> str | None:
        """Take the first piece in line and end it."""
        if (taken := await self.take(long=long)) is None:
            return None
        await self.finish(taken)
        return self.taken[-1]

    async def order(self, *, long: bool = False) -> list[str]:
        found = []
        while each := await self.serve(long=long):
            found.append(each)
        return found


@pytest.fixture
async def line(each_database):
    async with each_database.writing() as session:
        session.add_all([UserRow(id=name, name=name, role="student", created_at=now()) for name in PEOPLE])
        session.add(PackageRow(version="v", slug="p", files={}, created_at=now()))

    async def do(job):
        raise AssertionError("only taken here")

    is_long = ExplorationRow.chip.is_not(None)
    jobs = [
        Jobs(ExplorationRow, do, only_if=(~is_long,)),
        Jobs(LessonRunRow, do),
        Jobs(ExplorationRow, do, only_if=(is_long,), is_long=True),
        Jobs(ValidationRow, do, is_long=True),
    ]
    return Line(each_database, slots_for(each_database, jobs))


async def nothing(line):
    pass


async def a_chip_exploration(line):
    await line.add("dan", "exploration", chip="v5e")


async def a_validation(line):
    await line.add("dan", "validation")


async def a_failed_try(line):
    """An attempt that waits for its next try, and is the oldest in line."""
    await line.back_off(await line.add("dan"))


async def a_failed_try_of_many_turns_ago(line):
    await a_failed_try(line)
    for _ in range(5):
        await line.add("bob", "run")
        await line.serve()


async def all_of_these(line):
    for each in (a_chip_exploration, a_validation, a_failed_try_of_many_turns_ago):
        await each(line)


waits = pytest.mark.parametrize(
    "something", [nothing, a_chip_exploration, a_validation, a_failed_try, a_failed_try_of_many_turns_ago, all_of_these]
)


def by_person(taken):
    return Counter(each.split()[0] for each in taken)


@waits
@pytest.mark.parametrize("kind", ["run", "exploration"])
async def test_an_attempt_waits_for_one_piece_of_each_classmate_with_a_live_picture(line, something, kind):
    await something(line)
    live = {name: await line.add(name, kind) for name in ("bob", "cyd")}
    for turn in range(30):
        if turn % 10 == 3:
            # Also right after Ada was served, when the others still have theirs in the same round.
            await line.add("ada", "run")
            mine, before = await line.add("ada"), len(line.taken)
        served = await line.serve()
        if served in live.values():
            name = served.split()[0]
            live[name] = await line.add(name, kind)
        if turn % 10 == 9:
            others = by_person(line.taken[before : line.taken.index(mine)])
            # Her own run, and at most one of each other for each of her two.
            assert others == Counter(ada=1, bob=2, cyd=2) & others
            assert others["ada"] == 1


@waits
async def test_one_who_is_always_served_waits_for_one_piece_of_each_other(line, something):
    await something(line)
    live = {name: await line.add(name, "run") for name in ("bob", "cyd")}
    for _ in range(8):
        mine, before = await line.add("ada"), len(line.taken)
        while (served := await line.serve()) != mine:
            if served in live.values():
                name = served.split()[0]
                live[name] = await line.add(name, "run")
        others = by_person(line.taken[before:-1])
        assert others == Counter(bob=1, cyd=1) & others


@waits
async def test_of_twenty_runs_one_goes_before_anothers_attempt(line, something):
    await something(line)
    for _ in range(20):
        await line.add("bob", "run")
    await line.serve()
    mine, before = await line.add("ada"), len(line.taken)
    await line.order()
    assert line.taken.index(mine) - before <= 1


async def test_failed_tries_that_are_due_at_once_take_turns_too(line):
    failed = [await line.add("bob") for _ in range(10)]
    for each in failed:
        lease = await line.take()
        assert lease.attempt_id == each
        assert await Leases(line.database, 30.0, 2.0, by=HERE).try_later(lease) is not None
    await line.add("cyd")
    await line.serve()
    for each in failed:
        await line.back_off(each, -timedelta(minutes=1))
    mine = [await line.add("ada") for _ in range(2)]
    assert await line.order() == [failed[0], mine[0], failed[1], mine[1], *failed[2:]]


async def test_a_failed_try_that_becomes_due_has_no_second_turn_in_a_round(line):
    lease = (await line.add("bob"), await line.take())[1]
    await Leases(line.database, 30.0, 2.0, by=HERE).try_later(lease)
    for _ in range(5):
        await line.add("cyd", "run")
        await line.serve()
    # Bob is served by another one, and then the old one is due.
    other = await line.add("bob")
    assert await line.serve() == other
    mine = await line.add("ada")
    await line.back_off(lease.attempt_id, -timedelta(minutes=1))
    assert await line.order() == [mine, lease.attempt_id]


async def test_the_rescued_work_of_a_dead_worker_waits_for_its_turn(line):
    first = await line.add("bob")
    await line.take()
    leases = Leases(line.database, 30.0, 2.0, by=HERE)
    async with line.database.writing() as session:
        await leases.rescue(session, max_deaths=3, everything=True)
    other = await line.add("bob")
    assert await line.serve() == other
    mine = await line.add("ada")
    await line.back_off(first, -timedelta(minutes=1))
    assert await line.order() == [mine, first]


async def test_long_work_that_runs_does_not_keep_its_users_short_work_waiting(line):
    await line.add("ada", "exploration", chip="v5e")
    assert await line.take(long=True) is not None
    for _ in range(5):
        await line.add("bob")
    mine = await line.add("ada")
    assert (await line.order()).index(mine) <= 1


async def test_a_line_for_long_work_has_rounds_of_its_own(line):
    for _ in range(5):
        await line.add("bob", "run")
        await line.serve()
    many = [await line.add("bob", "exploration", chip="v5e") for _ in range(3)]
    mine = await line.add("ada", "exploration", chip="v5e")
    validations = [await line.add("", "validation") for _ in range(2)]
    assert await line.order() == []
    assert await line.order(long=True) == [many[0], mine, validations[0], many[1], validations[1], many[2]]
    # In the other line, Bob has not been served again.
    await line.add("cyd", "run")
    await line.serve()
    async with line.database.reading() as session:
        rows = {row.share: row for row in await session.scalars(select(FairShareRow))}
    assert (rows["bob"].round, rows["bob"].long_round) == (4, 2)
    assert (rows["ada"].round, rows["ada"].long_round) == (-1, 0)


async def test_rejudges_that_may_not_be_taken_do_not_stop_the_line(line):
    line.slots = slots_for(line.database, slots=2)
    for _ in range(5):
        await line.add("dan", "rejudge")
    assert (await line.take()).kind == "rejudge"
    await test_one_who_is_always_served_waits_for_one_piece_of_each_other(line, nothing)
    assert "rejudge" not in line.taken[1:]


async def test_what_is_cancelled_gives_its_turn_to_what_is_behind_it(line):
    runs = [await line.add("ada", "run") for _ in range(5)]
    mine = await line.add("ada")
    others = [await line.add("bob") for _ in range(3)]
    for each in runs:
        async with line.database.writing() as session:
            assert await cancel_row(session, each)
    assert await line.order() == [others[0], mine, *others[1:]]


async def test_what_is_deleted_gives_its_turn_to_what_is_behind_it(line):
    gone = [await line.add("ada", "exploration") for _ in range(3)]
    mine = await line.add("ada")
    for _ in range(3):
        await line.add("bob")
    async with line.database.writing() as session:
        for each in gone:
            row = await session.get_one(ExplorationRow, each)
            await session.delete(row)
            await close_up(session, row)
    assert (await line.order()).index(mine) == 1


async def test_a_cancelled_piece_does_not_make_its_user_be_served_twice(line):
    for name in ("ada", "bob"):
        await line.add(name, "run")
    assert {(await line.serve()).split()[0] for _ in range(2)} == {"ada", "bob"}
    again = [await line.add("ada", "run") for _ in range(3)]
    mine = await line.add("bob")
    async with line.database.writing() as session:
        await cancel_row(session, again[0])
    assert await line.order() == [again[1], mine, again[2]]


async def test_the_place_shown_is_that_in_ones_own_line(line):
    await line.add("bob", "exploration", chip="v5e")
    await line.add("bob", "validation")
    mine = await line.add("ada")
    async with line.database.reading() as session:
        row = await session.get_one(AttemptRow, mine)
    assert (await Places(line.database).of(row)).ahead == 0


async def test_shares_that_are_forgotten_leave_the_round_where_it_was(line):
    old = await line.add("dan")
    await line.back_off(old)
    await line.add("cyd", "run")
    await line.serve()
    for _ in range(6):
        await line.add("bob", "run")
        await line.serve()
    async with line.database.writing() as session:
        await forget_shares(session, "bob")
    mine = await line.add("ada")
    await line.back_off(old, -timedelta(minutes=1))
    async with line.database.reading() as session:
        shares = {row.share: row.round for row in await session.scalars(select(FairShareRow))}
        row = await session.get_one(AttemptRow, mine)
    assert "bob" not in shares
    assert max(shares.values()) == row.priority // 4
    assert await line.order() == [old, mine]
