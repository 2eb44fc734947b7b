"""Few requests begin in one round of the event loop, and those that would wait for too long are refused at once."""

import asyncio
import contextlib
import math
from collections import Counter

import httpx
import pytest
from fastapi import FastAPI

from app.core.rest import request_line
from app.core.rest.request_line import LONGEST_READ_S, LONGEST_SENT_S, RequestLine
from app.operations.operating.metrics import Metrics
from tests.app.around import surround

pytestmark = pytest.mark.anyio
# With this estimate, a reader who finds one in line is refused.
SLOW_S = 1.01 * LONGEST_READ_S


@pytest.fixture
def line(monkeypatch):
    """A line in which each request is expected to take long."""
    monkeypatch.setattr(request_line, "_FIRST_GUESS_S", SLOW_S)
    monkeypatch.setattr(request_line, "_WEIGHT", 0)
    return RequestLine()


async def at_once(line, *methods):
    """The answers to requests that arrive in one round of the loop. The first of them begins, so the line moves."""
    return await asyncio.gather(*(line.wait(each) for each in methods))


@pytest.mark.parametrize(("each_s", "in_a_round"), [(0.05, 1), (0.0025, 4)])
async def test_the_loop_looks_around_when_some_have_begun(monkeypatch, each_s, in_a_round):
    monkeypatch.setattr(request_line, "_FIRST_GUESS_S", each_s)
    monkeypatch.setattr(request_line, "_WEIGHT", 0)
    line, begun, rounds = RequestLine(), [], 0

    async def request(number):
        assert await line.wait("GET") == 0
        begun.append((number, rounds))

    requests = [asyncio.create_task(request(number)) for number in range(21)]
    while not all(each.done() for each in requests):
        rounds += 1
        await asyncio.sleep(0)
    numbers, when = zip(*begun, strict=True)
    assert numbers == tuple(range(21))
    # The first finds no line.
    assert list(Counter(when[1:]).values()) == [in_a_round] * (20 // in_a_round)
    assert line.waiting == 0


async def test_what_is_sent_goes_before_what_is_read(line):
    begun = []

    async def request(method):
        assert await line.wait(method) == 0
        begun.append(method)

    await asyncio.gather(*(request(each) for each in ("GET", "OPTIONS", "POST", "PUT")))
    assert begun == ["GET", "POST", "PUT", "OPTIONS"]


async def test_a_reader_begins_although_others_keep_sending(monkeypatch):
    monkeypatch.setattr(request_line, "_FIRST_GUESS_S", 0.0)
    begun, line = [], RequestLine()

    async def request(method):
        assert await line.wait(method) == 0
        begun.append(method)

    await asyncio.gather(*(request(each) for each in ("POST", "GET", "GET", *["POST"] * 8)))
    # The first finds no line.
    assert begun == ["POST", *["POST"] * 3, "GET", *["POST"] * 3, "GET", *["POST"] * 2]


async def test_a_reader_is_refused_first_and_a_sender_last(line):
    told = await at_once(line, "GET", "GET", "GET", "HEAD", *["POST"] * 6)
    most = math.floor(LONGEST_SENT_S / SLOW_S) + 1
    assert [seconds == 0 for seconds in told] == [True, True, False, False, *[True] * most, *[False] * (6 - most)]


async def test_those_who_are_refused_do_not_all_come_back_together(line):
    first, second, *told = await at_once(line, *["GET"] * 200)
    assert (first, second) == (0, 0)
    assert told[:4] == [2, 6, 10, 14]
    assert all(15 <= each <= 30 for each in told[4:])
    assert len(set(told[4:])) > 4


async def test_while_the_database_has_no_connection_the_first_in_line_waits():
    is_full = True
    line = RequestLine(lambda: is_full)
    waiting = asyncio.create_task(at_once(line, "GET", "GET"))
    for _ in range(10):
        await asyncio.sleep(0)
    assert line.waiting == 1
    is_full = False
    assert await asyncio.wait_for(waiting, 60) == [0, 0]


async def test_one_whose_client_is_gone_holds_up_nobody(line):
    first, gone, stays = (asyncio.create_task(line.wait("POST")) for _ in range(3))
    await asyncio.wait([first])
    gone.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await gone
    assert await asyncio.wait_for(stays, 60) == 0
    assert line.waiting == 0


@pytest.fixture
async def refusing(monkeypatch):
    """A client of an app that refuses what goes in line. The app has no database."""
    app = FastAPI()

    @app.get("/healthz")
    async def healthz() -> str:
        return "ok"

    async def refuse(self: RequestLine, method: str) -> int:
        return 7

    monkeypatch.setattr(RequestLine, "wait", refuse)
    surround(app)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://testserver") as client:
        yield client


async def test_a_program_reads_why_it_is_refused_and_when_to_come_back(refusing):
    for method, path in (("GET", "/api/v1/attempts"), ("POST", "/api/v1/problems/add_one/attempts")):
        answer = await refusing.request(method, path, headers={"Accept": "text/html"})
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "7")
        assert answer.headers["content-type"] == "application/problem+json"
        problem = answer.json()
        assert (problem["slug"], problem["status"]) == ("server-busy", 503)
        assert "again in 7 seconds; nothing that you sent before is lost." in problem["detail"]
        assert ("stored nothing" in problem["detail"]) is (method == "POST")
        assert answer.headers["x-request-id"]


async def test_a_reader_sees_a_page_that_says_so(refusing):
    browser = {"Accept": "text/html", "Accept-Encoding": "gzip"}
    page = await refusing.get("/problems", headers=browser | {"Cookie": "meshgrade_theme=dark"})
    assert (page.status_code, page.headers["retry-after"]) == (503, "7")
    assert "Meshgrade is very busy" in page.text
    assert "Reload the page in 7 seconds; nothing that you sent before is lost." in page.text
    assert 'data-theme="dark"' in page.text
    assert page.headers["content-security-policy"]
    assert "data-theme" not in (await refusing.get("/problems", headers=browser)).text
    assert "was not stored" in (await refusing.post("/attempts/1/comments", headers=browser)).text
    assert (await refusing.head("/problems", headers=browser)).content == b""


async def test_what_shows_that_the_service_is_busy_is_never_refused(refusing):
    assert (await refusing.get("/healthz")).status_code == 200
    for path in ("/static/nothing.css", "/readyz", "/metrics"):
        assert (await refusing.get(path)).status_code == 404, "this app has no such route"


async def test_the_metrics_count_those_that_are_refused():
    metrics = Metrics()
    metrics.refused()
    metrics.watch_line(lambda: 3)
    assert metrics.registry.get_sample_value("meshgrade_http_refused_total") == 1
    assert metrics.registry.get_sample_value("meshgrade_http_waiting") == 3
