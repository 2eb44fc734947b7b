"""A waiting attempt shows its place in the queue: over REST, in events, and on its page."""

import json

import pytest

from app.accounts.service import Accounts
from app.grading.attempts.live_updates import followed_attempt
from app.grading.attempts.service import Attempts
from app.grading.following import event_stream
from tests.app.grading.attempts.test_submit import ATTEMPTS, HeldGrader

pytestmark = pytest.mark.anyio


async def test_the_place_is_told_while_an_attempt_waits_and_not_after(start_service):
    grader = HeldGrader()
    async with start_service(grader) as service:

        async def submit(wait):
            answer = await service.http.post(f"{ATTEMPTS}?wait={wait}", json={"source": "x"}, headers=service.bearer)
            return answer.json()

        async def read(attempt):
            return (await service.http.get(f"/api/v1/attempts/{attempt['id']}", headers=service.bearer)).json()

        running, first, second = await submit(0.5), await submit(0), await submit(0)
        assert (running["status"], running["queue"]) == ("running", None)
        assert first["queue"] == {"ahead": 0, "expected_wait_s": None, "workers": 1}
        assert second["queue"] == (await read(second))["queue"] == {"ahead": 1, "expected_wait_s": None, "workers": 1}
        page = await service.http.get(f"/attempts/{second['id']}", headers=service.bearer)
        assert "Waiting: 1 ahead of you" in page.text

        owner = await service.services[Accounts].ensure_owner()
        stream = event_stream(followed_attempt(service.services[Attempts], owner, second["id"]))
        event = (await anext(stream)).decode().split("data: ")[1]
        assert json.loads(event) == {"status": "queued", "phase": None, "queue": second["queue"]}
        grader.go.set()
        async for _ in stream:
            pass
        assert (await read(second))["queue"] is None
