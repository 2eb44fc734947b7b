"""How many attempts one person may wait for at a time: each open stream reads its attempt again and again."""

from contextlib import ExitStack

import pytest

from app.accounts.caller import Guest, User
from app.core.errors import TooManyFollowed
from app.grading.attempts.live_updates import followed_attempt
from app.grading.attempts.service import Attempts
from app.grading.following import event_stream, person
from app.grading.queue.events import FOLLOWED_AT_MOST
from tests.app.grading.attempts.test_submit import ATTEMPTS, HeldGrader

pytestmark = pytest.mark.anyio


@pytest.fixture
async def held(start_service):
    """A service with an attempt that is running, and the owner's id."""
    grader = HeldGrader()
    async with start_service(grader) as service:
        sent = (await service.http.post(ATTEMPTS, json={"source": "x"}, headers=service.bearer)).json()
        owner = (await service.http.get("/api/v1/me", headers=service.bearer)).json()["id"]
        yield service, sent["id"], owner
        grader.go.set()


async def test_a_person_waits_for_so_many_attempts_and_no_more(held):
    service, attempt, owner = held
    events, address = service.services[Attempts].events, f"/api/v1/attempts/{attempt}"
    with ExitStack() as open_waits:
        for _ in range(FOLLOWED_AT_MOST):
            open_waits.enter_context(events.subscribe(attempt, owner))
        for refused in (f"{address}/events", f"{address}?wait=5"):
            answer = await service.http.get(refused, headers=service.bearer)
            assert (answer.status_code, answer.json()["slug"]) == (429, "too-many-followed")
            assert "Retry-After" in answer.headers
        # What needs no wait is answered, and what was stored is not refused.
        assert (await service.http.get(address, headers=service.bearer)).status_code == 200
        stored = await service.http.post(f"{ATTEMPTS}?wait=60", json={"source": "y"}, headers=service.bearer)
        assert (stored.status_code, stored.json()["status"]) == (202, "queued")
        # Other people are not held up.
        with events.subscribe(attempt, "another"):
            pass
    assert (await service.http.get(f"{address}?wait=0.01", headers=service.bearer)).status_code == 200


async def test_a_stream_counts_until_it_is_closed(held):
    service, attempt, owner = held
    attempts = service.services[Attempts]
    user = User(id=owner, name="owner", role="owner")
    streams = [event_stream(followed_attempt(attempts, user, attempt)) for _ in range(FOLLOWED_AT_MOST)]
    for each in streams:
        assert (await anext(each)).startswith(b"event: status")
    # One that was admitted before the last of them began ends at once, and the browser comes back.
    assert [event async for event in event_stream(followed_attempt(attempts, user, attempt))] == []
    with pytest.raises(TooManyFollowed):
        attempts.events.refuse_more(owner)
    for each in streams:
        await each.aclose()
    attempts.events.refuse_more(owner)


def test_guests_count_by_their_browsers():
    """All guests are one user, and those of a class have one address."""
    one, other = (User(id="guest", name="(guest)", role="student", guest=Guest(each, "::1")) for each in "ab")
    assert (person(one), person(other)) == ("a", "b")
