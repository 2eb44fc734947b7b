"""The expected duration of a verdict comes from the latest verdicts."""

from datetime import timedelta

import pytest

from app.accounts.models import UserRow
from app.core.clock import now
from app.grading.attempts.durations import Durations, Typical
from app.grading.queue.models import AttemptRow

pytestmark = pytest.mark.anyio


async def grade(database, problem: str, took_s: float | None, *, kind: str = "attempt", status: str = "finished"):
    end = now()
    start = None if took_s is None else end - timedelta(seconds=took_s)
    async with database.writing() as session:
        if await session.get(UserRow, "ada") is None:
            session.add(UserRow(id="ada", name="ada", role="student", created_at=end))
            await session.flush()
        count = f"{problem}-{kind}-{status}-{took_s}"
        session.add(
            AttemptRow(
                id=count[:32],
                user_id="ada",
                problem=problem,
                version="v",
                kind=kind,
                source="x",
                status=status,
                priority=0,
                tries=1,
                created_at=end,
                started_at=start,
                finished_at=end,
            )
        )


async def test_the_median_of_the_attempts_at_a_problem(each_database):
    for took_s in (2, 3, 40):
        await grade(each_database, "add_one", took_s)
    for took_s in (84, 9):
        await grade(each_database, "add_two", took_s)
    await grade(each_database, "add_one", 1, kind="run")
    await grade(each_database, "add_one", 100, status="cancelled")
    await grade(each_database, "add_one", None, status="cancelled")
    durations = Durations(each_database)
    assert await durations.typical("add_one") == Typical(pytest.approx(3, abs=0.01), 3)
    # Of two, a single one on a busy machine would decide.
    assert await durations.typical("add_two") is None
    assert await durations.typical("add_three") is None


async def test_only_the_latest_count(each_database):
    for took_s in range(100, 110):
        await grade(each_database, "add_one", took_s)
    for took_s in range(1, 21):
        await grade(each_database, "add_one", took_s)
    assert await Durations(each_database).typical("add_one") == Typical(pytest.approx(10.5, abs=0.01), 20)


async def test_it_is_read_once_a_minute(each_database):
    durations = Durations(each_database)
    assert await durations.typical("add_one") is None
    for took_s in (4, 5, 6):
        await grade(each_database, "add_one", took_s)
    assert await durations.typical("add_one") is None
    assert await Durations(each_database).typical("add_one") == Typical(pytest.approx(5, abs=0.01), 3)
