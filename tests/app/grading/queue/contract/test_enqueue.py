"""An attempt and its job are one: both are there after the commit, neither after a rollback."""

import pytest

from app.grading.queue.models import AttemptRow

pytestmark = pytest.mark.anyio


async def test_what_is_committed_is_graded(backend):
    attempt = await backend.hand_in(backend.package.reference)
    assert (await backend.read(attempt)).status == "queued"
    async with backend.grading():
        wrong = await backend.hand_in("take 0 x")
        # The grader does not know the text of the reference as an instruction, so it grades it at once.
        assert (await backend.ended(attempt)).verdict_status == "accepted"
        assert (await backend.ended(wrong)).verdict["reason"] == "wrong_value"


async def test_a_rollback_leaves_neither_attempt_nor_job(backend):
    async def enqueue_and_change_my_mind() -> None:
        async with backend.database.writing() as session:
            await backend.queue.enqueue(session, backend.row("take 0 rolled-back"))
            await session.flush()
            raise KeyError

    with pytest.raises(KeyError):
        await enqueue_and_change_my_mind()
    async with backend.grading():
        await backend.ended(await backend.hand_in("take 0 kept"))
    assert backend.noted("began") == ["take 0 kept"]
    async with backend.database.reading() as session:
        assert await session.get(AttemptRow, "a0") is None


async def test_the_queue_counts_what_waits(backend):
    await backend.hand_in("take 0 one")
    last = await backend.hand_in("take 0 two")
    stats = await backend.queue.stats()
    assert (stats.queued, stats.running) == (2, 0)
    assert (await backend.queue.place(await backend.read(last))).ahead == 1
