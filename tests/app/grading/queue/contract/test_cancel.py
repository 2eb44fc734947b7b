"""A cancelled attempt is not graded if it waited, and is stopped if it ran; either way nothing is stored."""

import pytest

from app.grading.queue.models import AttemptRow

pytestmark = pytest.mark.anyio


async def test_a_queued_attempt_is_never_begun(backend):
    attempt = await backend.hand_in("take 0 cancelled")
    assert await backend.queue.cancel(attempt)
    assert not await backend.queue.cancel(attempt)
    async with backend.grading():
        await backend.ended(await backend.hand_in("take 0 next"))
    assert backend.noted("began") == ["take 0 next"]
    assert (await backend.read(attempt)).status == "cancelled"


async def test_a_cancelled_attempt_can_be_queued_again(backend):
    attempt = await backend.hand_in("take 0 again")
    await backend.queue.cancel(attempt)
    async with backend.database.writing() as session:
        await backend.queue.enqueue(session, await session.get(AttemptRow, attempt))
    async with backend.grading():
        assert (await backend.ended(attempt)).status == "finished"
    assert backend.noted("began") == ["take 0 again"]


async def test_a_running_attempt_is_stopped_and_makes_room(backend):
    async with backend.grading(slots=1):
        attempt = await backend.hand_in("take 60 cancelled")
        await backend.began("take 60 cancelled")
        assert await backend.queue.cancel(attempt)
        await backend.ended(await backend.hand_in("take 0 next"))
        row = await backend.read(attempt)
    assert (row.status, row.verdict) == ("cancelled", None)
    assert backend.noted("ended") == ["take 0 next"]


async def test_a_verdict_that_comes_after_the_cancel_is_not_stored(backend):
    async with backend.grading(slots=1):
        attempt = await backend.hand_in("ignore 1 cancelled")
        await backend.began("ignore 1 cancelled")
        assert await backend.queue.cancel(attempt)
        await backend.ended(await backend.hand_in("take 0 next"))
        assert (await backend.read(attempt)).verdict is None


async def test_what_has_ended_cannot_be_cancelled(backend):
    async with backend.grading():
        attempt = await backend.hand_in("take 0 done")
        await backend.ended(attempt)
    assert not await backend.queue.cancel(attempt)
    assert not await backend.queue.cancel("nothing")
