"""The embedded queue at work: enqueue, retries, restarts, shutdown."""

import asyncio
import threading
from collections import deque

import pytest

from app.accounts.caller import User
from app.accounts.service import Accounts
from app.core.database import Database
from app.grading.queue.null_grader import NullGrader
from app.grading.queue.protocol import GradeQueue
from app.grading.queue.walls import Walls
from grader.core.context import QUIET
from grader.core.errors import Cancelled, WallMissing
from grader.verdicts.verdict import Verdict

pytestmark = pytest.mark.anyio
ATTEMPTS = "/api/v1/problems/add_one/attempts"


class ScriptedGrader(NullGrader):
    """Plays a list: an exception is raised, "failed" is answered, "ok" grades."""

    def __init__(self, *script: object) -> None:
        self.script = deque(script)

    def judge(self, package, source, context=QUIET, *, hidden=True, draw=None) -> Verdict:
        step = self.script.popleft() if self.script else "ok"
        if isinstance(step, Exception):
            raise step
        verdict = super().judge(package, source, context, hidden=hidden)
        return verdict if step == "ok" else verdict.model_copy(update={"status": "failed", "score": None})


class ObedientGrader(NullGrader):
    """Works until it is stopped."""

    def __init__(self) -> None:
        self.started = threading.Event()

    def judge(self, package, source, context=QUIET, *, hidden=True, draw=None) -> Verdict:
        self.started.set()
        context.stop.wait()
        raise Cancelled("stopped")


async def submit(service, wait=60):
    return (await service.http.post(f"{ATTEMPTS}?wait={wait}", json={"source": "x"}, headers=service.bearer)).json()


async def read(service, attempt_id):
    return (await service.http.get(f"/api/v1/attempts/{attempt_id}", headers=service.bearer)).json()


async def test_a_rollback_leaves_no_job(service):
    from app.core.clock import now
    from app.grading.queue.models import AttemptRow

    owner: User = await service.services[Accounts].ensure_owner()
    database = service.services[Database]
    row = AttemptRow(id="a", user_id=owner.id, problem="add_one", version="v", kind="run", source="x", created_at=now())

    async def enqueue_and_change_my_mind() -> None:
        async with database.writing() as session:
            await service.services[GradeQueue].enqueue(session, row)
            await session.flush()
            raise KeyError

    with pytest.raises(KeyError):
        await enqueue_and_change_my_mind()
    async with database.reading() as session:
        assert await session.get(AttemptRow, "a") is None


async def test_a_failed_grading_is_tried_again(start_service):
    async with start_service(ScriptedGrader("failed", RuntimeError("boom"), "ok")) as service:
        attempt = await submit(service)
        assert attempt["verdict"]["status"] == "rejected"


async def test_what_fails_every_time_is_stored_as_failed_and_not_charged(start_service):
    grader = ScriptedGrader(*[RuntimeError("boom")] * 3)
    async with start_service(grader, max_tries=3) as service:
        attempt = await submit(service)
        assert (attempt["verdict"]["status"], attempt["score"]) == ("failed", None)
        assert not grader.script


async def test_a_wall_found_missing_returns_the_attempt_and_refuses_the_next(start_service):
    async with start_service(ScriptedGrader(WallMissing("seccomp", "not there", "install it"))) as service:
        attempt = await submit(service, wait=0)
        async with asyncio.timeout(60):
            while service.services[Walls].are_up or (await read(service, attempt["id"]))["status"] != "queued":
                await asyncio.sleep(0.01)
        refused = await service.http.post(ATTEMPTS, json={"source": "x"}, headers=service.bearer)
        assert refused.status_code == 503


async def test_a_shutdown_returns_the_attempt_and_the_next_start_grades_it(start_service):
    stopped = ObedientGrader()
    async with start_service(stopped) as service:
        attempt = await submit(service, wait=0)
        assert await asyncio.to_thread(stopped.started.wait, 60)
    async with start_service() as service:
        await service.http.get(f"/api/v1/attempts/{attempt['id']}?wait=60", headers=service.bearer)
        assert (await read(service, attempt["id"]))["status"] == "finished"


async def test_a_grader_that_does_not_stop_cannot_keep_its_attempt(start_service, monkeypatch):
    monkeypatch.setattr("app.grading.queue.attempt_grading._STOP_GRACE_S", 0.05)
    release = threading.Event()

    class Deaf(NullGrader):
        def judge(self, package, source, context=QUIET, *, hidden=True, draw=None):
            release.wait()
            return super().judge(package, package.reference, hidden=hidden)

    async with start_service(Deaf()) as service:
        attempt = await submit(service, wait=0)
        async with asyncio.timeout(60):
            while (await read(service, attempt["id"]))["status"] != "running":
                await asyncio.sleep(0.01)
    release.set()
    async with start_service() as service:
        found = await service.http.get(f"/api/v1/attempts/{attempt['id']}?wait=60", headers=service.bearer)
        # The second grader's verdict, not the late one of the first, which would have accepted it.
        assert found.json()["verdict"]["status"] == "rejected"
