"""A request that a client repeats, because it never saw the first response, creates a single attempt."""

import asyncio

import pytest
from sqlalchemy import func, select

from app.accounts.service import Accounts
from app.core.database import Database
from app.core.ids import new_id
from app.grading.attempts.service import Attempts
from app.grading.attempts.views import AttemptViews
from app.grading.owned_work import WorkLimits
from app.grading.queue.events import WorkEvents
from app.grading.queue.models import AttemptRow
from app.grading.queue.walls import Walls
from app.problems.catalogue import Catalogue

pytestmark = pytest.mark.anyio
ATTEMPTS, RUNS = "/api/v1/problems/add_one/attempts", "/api/v1/problems/add_one/runs"
KEY = {"Idempotency-Key": "7d5c5f0e"}


async def test_the_same_key_and_body_are_the_same_attempt(service):
    first = await service.http.post(ATTEMPTS, json={"source": "x"}, headers=service.bearer | KEY)
    again = await service.http.post(f"{ATTEMPTS}?wait=60", json={"source": "x"}, headers=service.bearer | KEY)
    assert (first.status_code, again.status_code) == (202, 200)
    assert first.json()["id"] == again.json()["id"]
    assert first.headers["location"] == again.headers["location"]
    assert len((await service.http.get("/api/v1/attempts", headers=service.bearer)).json()["attempts"]) == 1


@pytest.mark.parametrize(("url", "source"), [(ATTEMPTS, "y"), (RUNS, "x")])
async def test_the_same_key_with_another_request_is_refused(service, url, source):
    first = await service.http.post(ATTEMPTS, json={"source": "x"}, headers=service.bearer | KEY)
    other = await service.http.post(url, json={"source": source}, headers=service.bearer | KEY)
    assert (other.status_code, other.json()["slug"]) == (409, "idempotency-key-reused")
    assert first.json()["id"] in other.json()["detail"]


async def test_a_key_is_its_users_own(service):
    accounts = service.services[Accounts]
    await accounts.preset_token(await accounts.add_user("somebody", "student"), "the-token-of-somebody")
    theirs = {"Authorization": "Bearer the-token-of-somebody"}
    first = await service.http.post(ATTEMPTS, json={"source": "x"}, headers=service.bearer | KEY)
    second = await service.http.post(ATTEMPTS, json={"source": "y"}, headers=theirs | KEY)
    assert second.status_code == 202
    assert first.json()["id"] != second.json()["id"]


async def test_a_repeated_request_does_not_count_as_another_one_waiting(start_service):
    async with start_service(wall_up=False, max_waiting_per_user=1) as service:
        service.services[Walls].probed = False  # attempts queue and none is graded
        service.services[Walls]._missing = []
        answers = [
            await service.http.post(ATTEMPTS, json={"source": "x"}, headers=service.bearer | KEY) for _ in range(2)
        ]
        assert [answer.status_code for answer in answers] == [202, 202]


@pytest.mark.parametrize("key", ["", " ", "a b", "x" * 256, "a\tb"])
async def test_a_key_that_is_none_is_refused(service, key):
    answer = await service.http.post(ATTEMPTS, json={"source": "x"}, headers=service.bearer | {"Idempotency-Key": key})
    assert (answer.status_code, answer.json()["slug"]) == (422, "field-invalid")
    assert "idempotency" in answer.json()["detail"].lower()


class Queued:
    """Stores queued attempts, and grades nothing."""

    async def enqueue(self, session, attempt: AttemptRow) -> None:
        attempt.status, attempt.tries = "queued", 0
        session.add(attempt)

    async def place(self, attempt_id: str) -> None:
        return None


def attempts_in(database: Database, package, **options) -> Attempts:
    catalogue, limits, walls = Catalogue([package]), WorkLimits(1000, 20), Walls(lambda: [])
    return Attempts(database, catalogue, AttemptViews(catalogue), Queued(), WorkEvents(), walls, limits, **options)


async def test_an_attempt_gets_the_id_whose_inputs_are_drawn_and_a_run_any(each_database: Database, package):
    user = await Accounts(each_database, session_life=None, link_life=None).ensure_owner()
    ready = [new_id()]
    attempts = attempts_in(each_database, package, next_id=lambda _: ready.pop() if ready else None)
    wanted = ready[0]
    ids = [(await attempts.submit(user, "add_one", kind, kind)).id for kind in ("run", "attempt", "attempt")]
    assert ids[1] == wanted
    assert len(set(ids)) == 3


async def test_sent_many_times_at_once_it_is_one_attempt(each_database: Database, package):
    accounts = Accounts(each_database, session_life=None, link_life=None)
    user = await accounts.ensure_owner()
    attempts = attempts_in(each_database, package)
    views = await asyncio.gather(*(attempts.submit(user, "add_one", "x", "attempt", "key") for _ in range(8)))
    assert len({view.id for view in views}) == 1
    async with each_database.reading() as session:
        assert await session.scalar(select(func.count()).select_from(AttemptRow)) == 1
