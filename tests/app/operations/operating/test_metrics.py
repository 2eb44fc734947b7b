"""The content of /metrics, who may read it, and that every process of a service gives the same numbers."""

import asyncio

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionFree

from app.core.database import Database
from app.core.settings import Settings
from app.grading.queue.workers import Workers
from app.operations.operating.attempt_statistics import AttemptStatistics
from app.operations.operating.metrics import Metrics
from tests.app.conftest import METRICS_TOKEN as TOKEN
from tests.app.conftest import Service
from tests.app.grading.attempts.test_submit import ATTEMPTS, RUNS, HeldGrader

pytestmark = pytest.mark.anyio

BEARER = {"Authorization": f"Bearer {TOKEN}"}
Samples = dict[tuple[str, ...], float]


def parsed(text: str) -> Samples:
    """Value by name and labels' values in the order of their names, except for values that depend on the clock."""
    return {
        (sample.name.removeprefix("meshgrade_"), *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if not sample.name.endswith(("_created", "_bucket", "_sum"))
    }


async def scrape(service: Service) -> Samples:
    answer = await service.http.get("/metrics", headers=BEARER)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=")
    return parsed(answer.text)


async def test_attempts_are_counted_once_by_what_became_of_them(service, package):
    for source, path in ((package.reference, ATTEMPTS), ("wrong", ATTEMPTS), ("wrong", ATTEMPTS), ("wrong", RUNS)):
        await service.http.post(f"{path}?wait=60", json={"source": source}, headers=service.bearer)
    for _ in range(2):
        found = await scrape(service)
        assert found["attempts_total", "attempt", "", "accepted"] == 1
        assert found["attempts_total", "attempt", "wrong_value", "rejected"] == 2
        assert found["attempts_total", "run", "wrong_value", "rejected"] == 1
        for phase in ("queued", "import", "run", "verify", "total"):
            assert found["grading_seconds_count", phase] == 4


async def test_a_process_that_is_not_the_only_one_labels_everything(service):
    state, labels = service.services, []
    for metrics in (Metrics(), Metrics(2)):
        tally = AttemptStatistics(state[Database])
        text = (await metrics.render(state[Database], tally, state[Workers], None)).decode()
        labels.append([each.labels for family in text_string_to_metric_families(text) for each in family.samples])
    assert labels[1] == [each | {"process": "2"} for each in labels[0]]
    assert labels[0]


async def test_two_processes_tell_the_same_of_attempts(service):
    other, state = Metrics(), service.services
    tally = AttemptStatistics(state[Database])
    await service.http.post(f"{ATTEMPTS}?wait=60", json={"source": "x"}, headers=service.bearer)
    theirs = parsed((await other.render(state[Database], tally, state[Workers], None)).decode())
    ours = await scrape(service)
    assert theirs["attempts_total", "attempt", "wrong_value", "rejected"] == 1
    assert {key for key in theirs if key[0].startswith(("attempts", "grading", "queue"))} == {
        key for key in ours if key[0].startswith(("attempts", "grading", "queue"))
    }


async def test_what_ended_before_the_start_is_not_counted(start_service):
    async with start_service() as service:
        await service.http.post(f"{ATTEMPTS}?wait=60", json={"source": "x"}, headers=service.bearer)
    async with start_service() as service:
        assert not [key for key in await scrape(service) if key[0] == "attempts_total"]


async def test_the_queue_is_told_by_kind_until_it_is_empty(start_service):
    grader = HeldGrader()
    async with start_service(grader) as service:
        made = [
            (await service.http.post(path, json={"source": "x"}, headers=service.bearer)).json()["id"]
            for path in (RUNS, RUNS, ATTEMPTS)
        ]
        async with asyncio.timeout(60):
            while (found := await scrape(service))["attempts_running",] == 0:
                await asyncio.sleep(0.01)
        assert (found["queue_depth", "run"], found["queue_depth", "attempt"]) == (1, 1)
        assert found["queue_oldest_seconds", "attempt"] > 0
        await service.http.delete(f"/api/v1/attempts/{made[2]}", headers=service.bearer)
        found = await scrape(service)
        assert ("queue_depth", "attempt") not in found
        assert found["attempts_total", "attempt", "", "cancelled"] == 1
        grader.go.set()
        for attempt_id in made[:2]:
            await service.http.get(f"/api/v1/attempts/{attempt_id}?wait=60", headers=service.bearer)
        found = await scrape(service)
        assert not [key for key in found if key[0].startswith("queue")]
        assert found["attempts_running",] == 0


async def test_requests_are_counted_by_route_and_not_by_path(service):
    for slug in ("add_one", "nothing", "%00"):
        await service.http.get(f"/api/v1/problems/{slug}")
        await service.http.get(f"/nothing/{slug}")
    found = await scrape(service)
    assert found["http_requests_total", "GET", "/api/v1/problems/{slug}", "404"] == 2
    assert found["http_requests_total", "GET", "unmatched", "404"] == 3
    assert found["http_request_seconds_count", "GET", "/api/v1/problems/{slug}"] == 3


@pytest.mark.parametrize("up", [True, False])
async def test_walls_are_told(start_service, up):
    async with start_service(wall_up=up) as service:
        found = await scrape(service)
        assert {key: found[key] for key in found if key[0] == "wall_up"} == {
            ("wall_up", "namespaces", service.services[Settings].worker_name): up
        }
        assert found["workers",] == up


@pytest.mark.parametrize(
    ("error", "up"), [(OperationalError("SELECT", {}, Exception("gone")), 0), (NoConnectionFree("1 s"), 1)]
)
async def test_without_its_database_the_service_still_tells_of_itself(service, monkeypatch, error, up):
    """A database of which this process has no connection left may be idle."""
    assert (await scrape(service))["database_up",] == 1

    async def gone(self: AttemptStatistics) -> None:
        raise error

    monkeypatch.setattr(AttemptStatistics, "new", gone)
    found = await scrape(service)
    assert found["database_up",] == up
    assert found["http_requests_total", "GET", "/metrics", "200"] == 1
    assert found["database_connections", "most"] == 15


@pytest.mark.parametrize("client", ["127.0.0.1", "::1", "10.0.0.1"])
async def test_without_a_token_nobody_is_answered(start_service, client):
    """Not this machine either: it may have other users."""
    async with start_service(metrics_token=None) as service:
        transport = httpx.ASGITransport(service.app, client=(client, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://meshgrade.test") as http:
            answer = await http.get("/metrics", headers=BEARER)
            assert (answer.status_code, answer.json()["slug"]) == (403, "metrics-refused")


async def test_with_a_token_everybody_needs_it(start_service):
    async with start_service() as service:
        for given in (None, "Bearer", "Bearer ", f"Bearer {TOKEN}x", f"Basic {TOKEN}", TOKEN, "Bearer \xff".encode()):
            answer = await service.http.get("/metrics", headers={"Authorization": given} if given else {})
            assert (answer.status_code, answer.json()["slug"]) == (401, "token-invalid"), given
            assert answer.headers["WWW-Authenticate"] == "Bearer"
        # An API token does not open it.
        assert (await service.http.get("/metrics", headers=service.bearer)).status_code == 401
        allowed = BEARER | {"X-Forwarded-For": "10.0.0.1"}
        assert (await service.http.get("/metrics", headers=allowed)).status_code == 200
