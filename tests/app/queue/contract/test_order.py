"""The order of grading: runs, attempts, rejudges; users in turn; and a slot that no rejudge takes."""

import pytest

pytestmark = pytest.mark.anyio


async def test_runs_go_before_attempts_and_those_before_rejudges(backend):
    await backend.hand_in("take 0 rejudge", kind="rejudge")
    await backend.hand_in("take 0 attempt")
    await backend.hand_in("take 0 run", kind="run")
    async with backend.grading():
        await backend.began("take 0 rejudge")
    assert backend.noted("began") == ["take 0 run", "take 0 attempt", "take 0 rejudge"]


async def test_one_user_cannot_starve_another(backend):
    for number in range(4):
        await backend.hand_in(f"take 0 ada-{number}", "ada")
    await backend.hand_in("take 0 bob-0", "bob")
    await backend.hand_in("take 0 bob-1", "bob")
    async with backend.grading():
        await backend.began("take 0 ada-3")
    assert [each.split()[2] for each in backend.noted("began")] == [
        "ada-0",
        "bob-0",
        "ada-1",
        "bob-1",
        "ada-2",
        "ada-3",
    ]


async def test_rejudges_leave_a_slot_free(backend):
    for number in range(3):
        await backend.hand_in(f"take 60 rejudge-{number}", kind="rejudge")
    # A lease that outlives any pause of a busy machine: a rescued rejudge would begin once more.
    async with backend.grading(slots=2, lease_s=60):
        await backend.began("take 60 rejudge-0")
        # All at once: a process looks for what another one has queued every quarter of a lease.
        attempts = [await backend.hand_in(f"take 0 attempt-{number}") for number in range(3)]
        for each in attempts:
            await backend.ended(each)
        assert [each for each in backend.noted("began") if "rejudge" in each] == ["take 60 rejudge-0"]


async def test_a_process_of_one_slot_grades_rejudges_too(backend):
    attempt = await backend.hand_in("take 0 rejudge", kind="rejudge")
    async with backend.grading(slots=1):
        assert (await backend.ended(attempt)).status == "finished"
