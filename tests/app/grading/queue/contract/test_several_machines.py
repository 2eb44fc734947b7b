"""Machines that differ: one with an older version, and ones whose clocks are wrong."""

import asyncio

import pytest

pytestmark = pytest.mark.anyio


async def test_a_worker_of_the_previous_version_takes_nothing_that_a_newer_one_will_do(backend):
    async with backend.grading(previous=1, lease_s=1):
        attempt = await backend.hand_in(backend.package.reference)
        await backend.ask_for_a_lesson_run("take 0 x")
        # It looks twice in a lease. The first of these looks may have begun before.
        looks = len(backend.noted("looked"))
        async with asyncio.timeout(60):
            while len(backend.noted("looked")) < looks + 4:
                await asyncio.sleep(0.05)
        row = await backend.read(attempt)
        assert (row.status, row.tries, row.gradings) == ("queued", 0, None)
        async with backend.grading():
            row = await backend.ended(attempt)
            await backend.began("take 0 x")
    assert (row.verdict_status, row.tries) == ("accepted", 1)


@pytest.mark.parametrize("seconds", [120, -120])
async def test_leases_hold_when_one_clock_is_wrong(backend, seconds):
    async with backend.grading(ahead_s=seconds):
        await backend.hand_in("take 3 theirs")
        await backend.began("take 3 theirs")
        async with backend.grading():
            await backend.hand_in("take 3 ours")
            await backend.began("take 3 ours")
            for attempt in ("a0", "a1"):
                assert (await backend.ended(attempt)).tries == 1
    assert sorted(backend.noted("began")) == ["take 3 ours", "take 3 theirs"]


async def test_a_failed_try_is_repeated_in_time_when_the_clock_is_wrong(backend):
    async with backend.grading(ahead_s=120):
        attempt = await backend.hand_in("fail 1 x")
        assert (await backend.ended(attempt)).tries == 2
