"""A grading that fails is tried again after a while, and given up after three tries; nobody waits for it."""

import pytest

pytestmark = pytest.mark.anyio


def times(backend, source):
    lines = [line.split(" ", 3) for line in backend.log.read_text().splitlines()]
    return [float(moment) for what, _, moment, noted in lines if what == "began" and noted == source]


async def test_each_try_waits_longer_than_the_one_before(backend):
    async with backend.grading(retry_s=0.2):
        row = await backend.ended(await backend.hand_in("fail 2 flaky"))
    assert (row.tries, row.verdict["status"]) == (3, "rejected")
    first, second, third = times(backend, "fail 2 flaky")
    assert second - first >= 0.2
    assert third - second >= 0.8


async def test_what_fails_every_time_ends_failed_and_blocks_nobody(backend):
    async with backend.grading(slots=1, retry_s=600):
        poison = await backend.hand_in("fail 9 poison", "ada")
        await backend.began("fail 9 poison")
        for number in range(3):
            await backend.ended(await backend.hand_in(f"take 0 bob-{number}", "bob"))
        assert (await backend.read(poison)).status != "finished"
    await backend.end_back_offs()
    async with backend.grading(slots=1, retry_s=0.1):
        row = await backend.ended(poison)
    assert (row.tries, row.verdict["status"], row.score) == (3, "failed", None)
    assert backend.noted("began").count("fail 9 poison") == 3


async def test_what_kills_every_worker_ends_failed_and_blocks_nobody(backend):
    poison = await backend.hand_in("die poison", "ada")
    for _ in range(3):
        async with backend.grading() as worker:
            assert await worker.wait() == 9
        await backend.expire_leases()
    async with backend.grading():
        next_one = await backend.ended(await backend.hand_in("take 0 next", "bob"))
        assert next_one.verdict["status"] == "rejected"
        row = await backend.ended(poison)
    assert (row.tries, row.verdict["status"]) == (3, "failed")
    assert "died 3 times" in row.verdict["stderr"]
    assert backend.noted("began").count("die poison") == 3
