"""A refusal names the seconds after which the next try is accepted, in the database and in memory."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import TypeAlias

import pytest
from sqlalchemy import select

from app.core.clock import now
from app.core.database import Database
from app.core.errors import Refused
from app.core.limits import HOUR, MINUTE, CountsInMemory, Limit, LimitCountRow, Standing, count, in_words

pytestmark = pytest.mark.anyio
BY_MINUTE = Limit("minute", MINUTE, 3, Refused, "{most} in a minute: try again in {wait}.")
BY_HOUR = Limit("hour", HOUR, 3, Refused, "{most} in an hour: try again in {wait}.")
GROWING = Limit("growing", HOUR, 3, Refused, "Try again in {wait}.", longest_pause=timedelta(seconds=40))
Try: TypeAlias = Callable[..., Awaitable[Refused | None]]


class Clock:
    """Both clocks that limits are measured with."""

    def __init__(self) -> None:
        self.began, self.passed_s = now(), 0.0

    def now(self):
        return self.began + timedelta(seconds=self.passed_s)

    def monotonic(self) -> float:
        return self.passed_s


@pytest.fixture
def clock(monkeypatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("app.core.limits.now", clock.now)
    monkeypatch.setattr(time, "monotonic", clock.monotonic)
    return clock


@pytest.fixture
def stored(each_database: Database, clock: Clock) -> Try:
    async def refusal(*limits: Limit, key: str = "somebody") -> Refused | None:
        try:
            async with each_database.writing() as session:
                await count(session, *((limit, key) for limit in limits))
        except Refused as refused:
            return refused
        return None

    return refusal


@pytest.fixture
def in_memory(clock: Clock) -> Try:
    counts: dict[str, CountsInMemory] = {}

    async def refusal(limit: Limit, key: str = "somebody") -> Refused | None:
        try:
            counts.setdefault(limit.kind, CountsInMemory(limit)).count(key)
        except Refused as refused:
            return refused
        return None

    return refusal


def wait_of(refused: Refused | None) -> int:
    assert refused is not None
    return int(refused.headers["Retry-After"])


@pytest.mark.parametrize("limit", [BY_MINUTE, BY_HOUR])
@pytest.mark.parametrize("pause_s", [0.0, 0.3, 7.9])
async def test_the_next_try_is_accepted_after_the_seconds_and_not_before(stored, limit, pause_s, clock):
    await check_wait(stored, limit, pause_s, clock)


@pytest.mark.parametrize("limit", [BY_MINUTE, BY_HOUR])
@pytest.mark.parametrize("pause_s", [0.0, 0.3, 7.9])
async def test_so_it_is_in_memory(in_memory, limit, pause_s, clock):
    await check_wait(in_memory, limit, pause_s, clock)


async def check_wait(attempt: Try, limit: Limit, pause_s: float, clock: Clock) -> None:
    for _ in range(limit.most):
        assert await attempt(limit) is None
        clock.passed_s += pause_s
    wait = wait_of(await attempt(limit))
    clock.passed_s += wait - 1
    assert wait_of(await attempt(limit)) == 1
    assert await attempt(limit, key="somebody else") is None
    clock.passed_s += 1
    assert await attempt(limit) is None


async def test_a_pause_that_grows_is_as_long_as_it_says(stored, clock):
    for _ in range(GROWING.most + 1):
        assert await stored(GROWING) is None
    waits = []
    for _ in range(8):
        waits.append(wait_of(await stored(GROWING)))
        clock.passed_s += waits[-1] - 0.5
        assert wait_of(await stored(GROWING)) == 1
        clock.passed_s += 0.5
        assert await stored(GROWING) is None
    assert waits == [1, 2, 4, 8, 16, 32, 40, 40]


async def test_two_limits_refuse_with_the_longer_wait_and_count_nothing(stored, clock, each_database):
    for _ in range(3):
        assert await stored(BY_MINUTE, BY_HOUR) is None
    refused = await stored(BY_MINUTE, BY_HOUR)
    assert (wait_of(refused), str(refused)) == (3600, "3 in an hour: try again in 60 min.")
    clock.passed_s += 61
    assert wait_of(await stored(BY_MINUTE, BY_HOUR)) == 3539
    async with each_database.reading() as session:
        rows = (await session.scalars(select(LimitCountRow))).all()
        assert sorted((each.kind, each.tries) for each in rows) == [("hour", 3), ("minute", 3)]


async def test_the_next_try_deletes_counts_whose_window_has_ended(stored, clock, each_database):
    await stored(BY_MINUTE)
    await stored(GROWING)
    clock.passed_s += 61
    await stored(BY_HOUR)
    async with each_database.reading() as session:
        assert set(await session.scalars(select(LimitCountRow.kind))) == {"growing", "hour"}


async def test_in_memory_what_is_over_is_dropped_and_a_standing_counts_nothing(clock):
    counts = CountsInMemory(BY_MINUTE)
    for number in range(100):
        counts.count(f"address {number}", 2)
    for _ in range(2):
        assert [counts.standing("address 7"), counts.standing("another")] == [Standing(1, 60), Standing(3, 1)]
    clock.passed_s += 60
    counts.count("address 7")
    assert len(counts._counts) == 1


async def test_in_memory_several_tries_count_together_or_not_at_all(clock):
    counts = CountsInMemory(BY_MINUTE)
    counts.count("somebody", 2)
    with pytest.raises(Refused):
        counts.count("somebody", 2)
    assert counts.standing("somebody").left == 1


async def test_a_lower_limit_holds_for_what_is_counted_already(stored):
    for _ in range(3):
        await stored(BY_HOUR)
    assert wait_of(await stored(replace(BY_HOUR, most=1))) == 3600


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(1, "1 s"), (119, "119 s"), (120, "2 min"), (121, "3 min"), (7200, "120 min"), (7201, "3 h"), (86400, "24 h")],
)
def test_a_wait_is_rounded_up(seconds, words):
    assert in_words(seconds) == words
