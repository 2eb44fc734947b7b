"""Work other than attempts is followed by its events and by the long poll, until it ends or is deleted."""

import json

import pytest

from app.accounts.service import Accounts
from app.grading.following import event_stream, followed_job
from app.learning.explorer.service import Explorations
from tests.app.learning.explorer.conftest import Waiting
from tests.app.learning.explorer.test_api import explore

pytestmark = pytest.mark.anyio


class Reporting(Waiting):
    """Says what it does, before it waits."""

    def inspect(self, package, source, context, **chosen):
        context.progress("compiling")
        return super().inspect(package, source, context, **chosen)


@pytest.fixture
async def running(start_service, database_url):
    """A service whose exploration compiles until the test lets it go, and its address."""
    grader = Reporting()
    async with start_service(grader, database_url=database_url) as service:
        service.grader = grader
        yield service, (await explore(service)).headers["location"]
        grader.go.set()


async def stream_of(service, address):
    owner = await service.services[Accounts].ensure_owner()
    return event_stream(followed_job(service.services[Explorations], owner, address.rpartition("/")[2]))


def states(events: list[bytes]) -> list[dict[str, str | None]]:
    return [json.loads(each.decode().partition("data: ")[2]) for each in events if each.startswith(b"event: status")]


async def until_compiling(stream) -> list[bytes]:
    told = [await anext(stream)]
    while states(told)[-1]["phase"] != "compiling":
        told.append(await anext(stream))
    return told


async def test_the_events_of_an_exploration_have_its_phases_its_first_program_and_its_end(running):
    service, address = running
    stream = await stream_of(service, address)
    told = await until_compiling(stream)
    service.grader.rest.clear()
    service.grader.go.set()
    told.append(await anext(stream))
    partly = (await service.http.get(address, headers=service.bearer)).json()
    assert (partly["status"], partly["result"], len(partly["partial_result"]["programs"])) == ("running", None, 1)
    picture = await service.http.get(f"/explore/{partly['id']}/picture", headers=service.bearer)
    assert " data-partial " in picture.text
    service.grader.rest.set()
    told += [each async for each in stream]
    assert states(told)[-3:] == [
        {"status": "running", "phase": "compiling"},
        {"status": "running", "phase": "compiling", "partial": True},
        {"status": "finished", "phase": None},
    ]
    ended = await service.http.get(f"{address}/events", headers=service.bearer)
    assert states([ended.content]) == [{"status": "finished", "phase": None}]
    last_id = ended.text.partition("id: ")[2].partition("\n")[0]
    again = await service.http.get(f"{address}/events", headers=service.bearer | {"Last-Event-ID": last_id})
    assert again.status_code == 204


async def test_one_that_is_deleted_ends_its_events(running):
    service, address = running
    stream = await stream_of(service, address)
    await until_compiling(stream)
    assert (await service.http.delete(address, headers=service.bearer)).status_code == 204
    assert states([each async for each in stream]) == [{"status": "cancelled", "phase": None}]


async def test_the_long_poll_returns_it_once_it_has_ended(running):
    service, address = running
    early = (await service.http.get(f"{address}?wait=0.01", headers=service.bearer)).json()
    service.grader.go.set()
    late = (await service.http.get(f"{address}?wait=60", headers=service.bearer)).json()
    assert (early["result"], late["status"]) == (None, "finished")


async def test_events_are_for_the_owner(running):
    service, address = running
    for path in (f"{address}/events", "/api/v1/lesson-runs/0123456789abcdef0123456789abcdef/events"):
        assert (await service.http.get(path)).status_code == 401
    missing = await service.http.get(f"/api/v1/explorations/{'0' * 32}/events", headers=service.bearer)
    assert (missing.status_code, missing.json()["slug"]) == (404, "exploration-not-found")
