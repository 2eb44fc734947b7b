"""One log line per request, with the template of its route and the id that the response carries."""

import logging

import httpx
import pytest

from app.problems.catalogue import Catalogue

pytestmark = pytest.mark.anyio


def lines(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str, int]]:
    return [
        (record.method, record.route, record.status) for record in caplog.records if record.getMessage() == "request"
    ]


async def test_a_request_is_told_by_its_route_and_by_nothing_that_was_sent(service, caplog):
    caplog.set_level(logging.INFO, "app")
    http = service.http
    await http.get("/sign-in?token=CANARY")
    await http.get("/api/v1/problems/CANARY", headers={"X-Canary": "CANARY"})
    await http.get("/problems/CANARY")
    await http.get("/CANARY/" + "x" * 100)
    await http.request("CANARY", "/")
    await http.post("/api/v1/problems/add_one/runs", content=b'{"CANARY', headers=service.bearer)
    assert lines(caplog) == [
        ("GET", "/sign-in", 403),
        ("GET", "/api/v1/problems/{slug}", 404),
        ("GET", "/problems/{slug}", 404),
        ("GET", "unmatched", 404),
        ("other", "/", 405),
        ("POST", "/api/v1/problems/{slug}/runs", 415),
    ]
    assert all(record.ms >= 0 for record in caplog.records if record.getMessage() == "request")
    assert "CANARY" not in str([vars(record) for record in caplog.records])


async def test_what_machines_ask_for_all_the_time_is_told_to_those_who_want_all(service, caplog):
    caplog.set_level(logging.INFO, "app")
    page = (await service.http.get("/")).text
    caplog.clear()
    await service.http.get("/healthz")
    await service.http.get("/metrics")
    await service.http.get("/static/" + page.split("/static/")[1].split('"')[0])
    assert lines(caplog) == []
    caplog.set_level(logging.DEBUG, "app")
    await service.http.get("/healthz")
    assert lines(caplog) == [("GET", "/healthz", 200)]


async def test_an_error_that_nobody_foresaw_is_told_as_one(service, caplog, monkeypatch):
    caplog.set_level(logging.INFO, "app")
    monkeypatch.setattr(service.services[Catalogue], "get", lambda slug: 1 / 0)
    answer = await service.http.get("/api/v1/problems/add_one")
    assert lines(caplog) == [("GET", "/api/v1/problems/{slug}", 500)]
    assert answer.headers["X-Request-Id"]
    assert answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize("given", ["abc-123_4.5", "A" * 64])
async def test_a_sane_id_is_kept(service, given):
    assert (await service.http.get("/healthz", headers={"X-Request-Id": given})).headers["X-Request-Id"] == given


@pytest.mark.parametrize("given", ["", "a b", "A" * 65, "<script>", "a\tb", "ü".encode()])
async def test_any_other_is_replaced(service, given):
    answers = [await service.http.get("/healthz", headers={"X-Request-Id": given}) for _ in range(2)]
    first, second = (answer.headers.get_list("X-Request-Id") for answer in answers)
    assert len(first) == len(second) == 1
    assert first != second
    assert len(first[0]) == 16


async def test_every_step_of_an_attempt_is_told_with_its_id(service, caplog):
    caplog.set_level(logging.INFO, "app")
    url = "/api/v1/problems/add_one/attempts?wait=60"
    attempt: httpx.Response = await service.http.post(url, json={"source": "x"}, headers=service.bearer)
    steps = [record for record in caplog.records if record.getMessage() == "attempt"]
    assert {record.attempt_id for record in steps} == {attempt.json()["id"]}
    told = [(record.state, record.phase) for record in steps]
    # The request and the slot that takes the attempt go side by side once it is stored.
    told.remove(("queued", None))
    assert told == [
        ("running", "starting"),
        ("running", "comparing"),
        ("finished", None),
    ]
