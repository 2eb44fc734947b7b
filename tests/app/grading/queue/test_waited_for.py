"""Those who wait for attempts share one look at the database, and only if something has changed."""

import asyncio
import json
import math
from contextlib import ExitStack

import pytest
from sqlalchemy import delete, event

from app.accounts.service import Accounts
from app.core.database import Database
from app.grading import following
from app.grading.attempts.live_updates import followed_attempt
from app.grading.attempts.service import Attempts
from app.grading.following import event_stream
from app.grading.queue import waited_for
from app.grading.queue.models import AttemptRow
from tests.app.grading.attempts.test_submit import ATTEMPTS, HeldGrader

pytestmark = pytest.mark.anyio


@pytest.fixture
async def line(start_service, database_url, monkeypatch):
    """A service that grades one attempt while three wait, and their ids. It looks again whenever something changed."""
    monkeypatch.setattr(waited_for, "_REST_S", 0.0)
    monkeypatch.setattr(waited_for, "_SHARE", math.inf)
    grader = HeldGrader()
    async with start_service(grader, database_url=database_url) as service:
        ids = []
        for number in range(4):
            sent = await service.http.post(ATTEMPTS, json={"source": f"{number}"}, headers=service.bearer)
            ids.append(sent.json()["id"])
        attempts = service.services[Attempts]
        with attempts.events.subscribe(ids[0], "ada") as subscription:
            while (await attempts.get(await owner_of(service), ids[0])).status == "queued":
                await subscription.next(60)
        yield service, attempts, ids
        grader.go.set()


async def owner_of(service):
    return await service.services[Accounts].ensure_owner()


async def forget(service, attempt_id):
    """Delete an attempt, and notify nobody."""
    async with service.services[Database].writing() as session:
        await session.execute(delete(AttemptRow).where(AttemptRow.id == attempt_id))


async def test_one_look_is_enough_for_everyone(line, monkeypatch):
    service, attempts, (running, first, second, third) = line
    user, executed, this = await owner_of(service), [], asyncio.current_task()

    def note(connection, cursor, statement, parameters, context, many):
        # Work in the background has tasks of its own.
        if asyncio.current_task() is this and statement.startswith("SELECT"):
            executed.append(statement)

    async def looks(*ids):
        executed.clear()
        return [await attempts.glance(each) for each in ids], len(executed)

    event.listen(service.services[Database].engine.sync_engine, "before_cursor_execute", note)
    with ExitStack() as waits:
        for each in (running, first, second, third):
            waits.enter_context(attempts.events.subscribe(each, each))
        [at_first], asked = await looks(first)
        assert asked > 0
        seen, again = await looks(running, second, third)
        assert again == 0, "nothing has changed since"
        assert [each.status for each in (at_first, *seen)] == ["queued", "running", "queued", "queued"]
        assert [each and each.ahead for each in (at_first.place, *(each.place for each in seen))] == [0, None, 1, 2]
        assert seen[2].place == (await attempts.get(user, third)).queue

        await service.http.delete(f"/api/v1/attempts/{first}", headers=service.bearer)
        [cancelled, moved_up], _ = await looks(first, second)
        assert (cancelled.status, cancelled.place, moved_up.place.ahead) == ("cancelled", None, 0)

        await forget(service, third)
        assert (await attempts.glance(third)).status == "queued", "nobody knows yet"
        monkeypatch.setattr(waited_for, "_SAFE_S", 0.0)
        assert await attempts.glance(third) is None


async def test_a_stream_tells_a_new_place_and_a_deletion_that_nobody_reported(line, monkeypatch):
    service, attempts, (_, first, second, _) = line
    monkeypatch.setattr(following, "_PLACE_S", 0.01)
    stream = event_stream(followed_attempt(attempts, await owner_of(service), second))

    async def told():
        """What the next message with data says."""
        while not (message := await anext(stream)).startswith(b"event: status"):
            pass
        return json.loads(message.split(b"data: ")[1])

    assert (await told())["queue"]["ahead"] == 1
    await service.http.delete(f"/api/v1/attempts/{first}", headers=service.bearer)
    assert (await told())["queue"]["ahead"] == 0
    await forget(service, second)
    monkeypatch.setattr(waited_for, "_SAFE_S", 0.0)
    assert (await told())["status"] == "cancelled"
    assert [each async for each in stream] == []


async def test_a_long_poll_ends_when_a_change_was_missed(line, monkeypatch):
    service, attempts, (*_, third) = line
    monkeypatch.setattr(following, "_QUIET_S", 0.01)
    monkeypatch.setattr(waited_for, "_SAFE_S", 0.0)
    poll = service.http.get(f"/api/v1/attempts/{third}?wait=60", headers=service.bearer)
    waiting = asyncio.create_task(poll)
    while third not in attempts.events.waited_for:
        await asyncio.sleep(0)
    await forget(service, third)
    assert (await waiting).status_code == 404
