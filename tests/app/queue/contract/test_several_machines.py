"""Machines whose clocks are wrong."""

import pytest

pytestmark = pytest.mark.anyio


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
