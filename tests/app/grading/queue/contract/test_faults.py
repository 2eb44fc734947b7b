"""Workers that are killed, paused or told to end, and a database that goes away: no attempt is lost or graded twice."""

import asyncio
import signal
import sqlite3

import pytest

pytestmark = pytest.mark.anyio


async def test_a_killed_workers_attempt_is_finished_by_another(backend):
    async with backend.grading() as killed:
        attempt = await backend.hand_in("take 1 x")
        await backend.began("take 1 x")
        killed.kill()
        await killed.wait()
    await backend.expire_leases()
    async with backend.grading() as other:
        row = await backend.ended(attempt)
    assert (row.verdict["stdout"], row.tries) == (str(other.pid), 2)
    assert backend.noted("ended") == ["take 1 x"]


async def pause(worker, backend):
    """Stop the worker while it does not hold SQLite's only write lock, which it would keep."""
    while True:
        worker.send_signal(signal.SIGSTOP)
        if backend.server is not None:
            return
        probe = sqlite3.connect(backend.database.name, isolation_level=None, timeout=0)
        try:
            probe.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            worker.send_signal(signal.SIGCONT)
            await asyncio.sleep(0.01)
        else:
            return
        finally:
            probe.close()


async def test_a_worker_that_was_paused_past_its_lease_changes_nothing_and_works_on(backend):
    async with backend.grading() as paused:
        attempt = await backend.hand_in("ignore 1 x")
        await backend.began("ignore 1 x")
        await pause(paused, backend)
        await backend.expire_leases()
        async with backend.grading() as other:
            row = await backend.ended(attempt)
            assert row.verdict["stdout"] == str(other.pid)
        paused.send_signal(signal.SIGCONT)
        # Only the first worker is left: it first writes an obsolete verdict, and then grades this attempt.
        assert (await backend.ended(await backend.hand_in("take 0 next"))).verdict["stdout"] == str(paused.pid)
        assert backend.noted("ended") == ["ignore 1 x", "ignore 1 x", "take 0 next"]
        late = await backend.read(attempt)
    assert (late.verdict, late.finished_at, late.tries) == (row.verdict, row.finished_at, 2)


async def away(backend, attempt_is_graded):
    """Take the database away until the attempt has been graded."""
    if backend.server is None:
        holder = sqlite3.connect(backend.database.name, isolation_level=None)
        holder.execute("BEGIN EXCLUSIVE")
        await attempt_is_graded()
        holder.close()
    else:
        await asyncio.to_thread(backend.server.stop)
        await attempt_is_graded()
        await asyncio.to_thread(backend.server.ensure_postgres_running)


async def test_a_verdict_survives_a_database_that_restarts_or_is_locked(backend):
    async with backend.grading():
        attempt = await backend.hand_in("take 1 x")
        await backend.began("take 1 x")

        async def graded():
            async with asyncio.timeout(60):
                while backend.noted("ended") != ["take 1 x"]:
                    await asyncio.sleep(0.05)

        await away(backend, graded)
        row = await backend.ended(attempt)
        assert (row.verdict["status"], row.tries) == ("rejected", 1)
        # It keeps grading.
        assert (await backend.ended(await backend.hand_in("take 0 next"))).status == "finished"
    assert backend.noted("began") == ["take 1 x", "take 0 next"]


async def test_a_worker_that_is_told_to_end_drains(backend):
    async with backend.grading(slots=2, drain_s=4) as worker:
        short, long = await backend.hand_in("hold 0 short"), await backend.hand_in("take 600 long", "bob")
        await backend.began("hold 0 short")
        await backend.began("take 600 long")
        waiting = await backend.hand_in("take 0 waiting", kind="run")
        worker.send_signal(signal.SIGTERM)
        async with asyncio.timeout(60):
            while not backend.noted("draining"):
                await asyncio.sleep(0.05)
        backend.release()
        assert await asyncio.wait_for(worker.wait(), 60) == 0
    assert (await backend.read(short)).verdict["stdout"] == str(worker.pid)
    for attempt in (long, waiting):
        row = await backend.read(attempt)
        assert (row.status, row.tries, row.fence_token) == ("queued", 0, None)
    assert "take 0 waiting" not in backend.noted("began")
    async with backend.grading(slots=2):
        assert (await backend.ended(waiting)).status == "finished"
        await backend.began("take 600 long", times=2)
