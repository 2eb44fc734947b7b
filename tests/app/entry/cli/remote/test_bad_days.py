"""How commands behave when a server is busy, restarts, drops the connection, or is not Meshgrade."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest

from app.core.start_errors import NotLoggedIn, ServerRefused, ServerUnusable
from app.entry.cli.remote.attempt_follower import follow
from app.entry.cli.remote.events import Event, read_events
from app.entry.cli.remote.server import Server

ID = "0" * 31 + "1"
QUEUED = {
    "id": ID,
    "problem": "add_one",
    "kind": "attempt",
    "status": "queued",
    "phase": None,
    "verdict": None,
    "queue": None,
    "withheld_until": None,
    "pitfall": None,
    "version": "told by the server alone",
}
DONE = QUEUED | {"status": "finished", "verdict": {"status": "accepted", "stdout": "a\u2028b"}}
DOWN = httpx.ConnectError("refused")


def problem(status: int, slug: str, **headers: str) -> httpx.Response:
    content = {"type": "x", "title": "Title", "status": status, "detail": f"Detail of {slug}.", "slug": slug}
    return httpx.Response(status, json=content, headers={"Content-Type": "application/problem+json", **headers})


def stream(*events: tuple[str, str, object], broken: bool = False) -> httpx.Response:
    def chunks():
        for name, event_id, data in events:
            text = f"event: {name}\nid: {event_id}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
            yield text.encode()
        if broken:
            raise httpx.ReadError("reset")

    return httpx.Response(200, content=chunks(), headers={"Content-Type": "text/event-stream"})


class Scripted:
    """A server that gives these answers, in this order, and the client that talks to it."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[httpx.Request] = []
        self.notes: list[str] = []
        self.slept: list[float] = []
        self.server = Server(
            "https://grader.example",
            "the-token",
            note=self.notes.append,
            transport=httpx.MockTransport(self._answer),
            sleep=self.slept.append,
        )

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def ok(content: object) -> httpx.Response:
    return httpx.Response(200, json=content)


ME = {"name": "ada", "role": "student"}


def test_429_is_waited_out_with_a_note():
    script = Scripted(problem(429, "too-many-waiting", **{"Retry-After": "5"}), ok(QUEUED))
    assert script.server.send("add_one", "attempts", "x").id == ID
    assert script.slept == [5.0]
    assert script.notes == ["Title: Detail of too-many-waiting. Trying again in 5 s."]


def test_a_date_to_wait_for_is_understood():
    when = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    script = Scripted(problem(503, "database-busy", **{"Retry-After": when}), ok(ME))
    script.server.me()
    assert 30 < script.slept[0] < 120


@pytest.mark.parametrize("wish", ["86400", "soon", "-1", "\u0661"])
def test_an_unreasonable_wish_is_not_waited_for(wish):
    headers = [(b"Content-Type", b"application/problem+json"), (b"Retry-After", wish.encode())]
    answer = httpx.Response(429, headers=headers, content=problem(429, "too-many-requests").content)
    script = Scripted(answer)
    with pytest.raises(ServerRefused, match="too-many-requests"):
        script.server.me()
    assert script.slept == []


def test_waiting_ends_at_last():
    script = Scripted(*[problem(429, "too-many-requests", **{"Retry-After": "250"}) for _ in range(3)])
    with pytest.raises(ServerRefused):
        script.server.me()
    assert script.slept == [250.0, 250.0]


def test_a_post_that_broke_is_sent_again_under_the_same_key():
    script = Scripted(ok(ME), httpx.ReadError("reset"), DOWN, ok(QUEUED))
    script.server.me()
    assert script.server.send("add_one", "runs", "x").id == ID
    keys = {request.headers["Idempotency-Key"] for request in script.asked[1:]}
    assert len(keys) == 1
    assert script.slept == [1.0, 2.0]
    assert all("cannot be reached at the moment" in note for note in script.notes)


def test_two_sources_have_two_keys():
    script = Scripted(ok(QUEUED), ok(QUEUED))
    for _ in range(2):
        script.server.send("add_one", "runs", "x")
    first, second = (request.headers["Idempotency-Key"] for request in script.asked)
    assert first != second


def test_a_server_that_never_answered_is_down_and_told_at_once():
    script = Scripted(DOWN)
    with pytest.raises(ServerUnusable, match=r"grader\.example cannot be reached: refused"):
        script.server.me()
    assert script.slept == []


def test_one_that_stays_away_is_given_up_on():
    script = Scripted(ok(ME), *[DOWN] * 20)
    script.server.me()
    with pytest.raises(ServerUnusable):
        script.server.attempt(ID)
    assert sum(script.slept) == 60


@pytest.mark.parametrize(
    ("answer", "error", "said"),
    [
        (problem(401, "token-invalid"), NotLoggedIn, "did not accept your token"),
        (problem(404, "problem-not-found"), ServerRefused, "Detail of problem-not-found"),
        (problem(413, "source-too-large"), ServerRefused, "Detail of source-too-large"),
        (problem(503, "wall-missing"), ServerUnusable, "Detail of wall-missing"),
        (httpx.Response(502, html="<h1>Bad Gateway</h1>"), ServerUnusable, "not like a Meshgrade server"),
        (
            httpx.Response(200, headers={"Content-Encoding": "gzip"}, stream=httpx.ByteStream(b"this is not gzip")),
            ServerUnusable,
            "can",
        ),
        (httpx.Response(404, json={"detail": "x"}), ServerUnusable, "not like a Meshgrade server"),
        (httpx.Response(200, html="<h1>Welcome</h1>"), ServerUnusable, "does not understand"),
        (httpx.Response(200, json={"role": 1}), ServerUnusable, "does not understand"),
        (
            httpx.Response(301, headers={"Location": "https://other.example/"}),
            ServerUnusable,
            "redirects to https://oth",
        ),
    ],
)
def test_every_answer_that_is_none_has_its_message(answer, error, said):
    script = Scripted(answer)
    with pytest.raises(error, match=said) as raised:
        script.server.me()
    assert len(script.asked) == 1
    assert "the-token" not in str(raised.value)


def test_what_a_server_writes_does_not_act_on_the_terminal():
    answer = problem(404, "problem-not-found")
    content = answer.json() | {"detail": "\x1b]0;title\x07\x1b[2Jcleared\a"}
    script = Scripted(httpx.Response(404, json=content, headers={"Content-Type": "application/problem+json"}))
    with pytest.raises(ServerRefused, match="cleared") as raised:
        script.server.me()
    assert not {"\x1b", "\a"} & set(str(raised.value))


def followed(script: Scripted) -> tuple[dict, list[str]]:
    told: list[str] = []
    started = script.server.attempt(ID)
    return follow(script.server, started, told.append).model_dump(), told


def status(event_id: str, status: str, phase: str | None) -> tuple[str, str, object]:
    return "status", event_id, {"status": status, "phase": phase}


def test_events_are_followed_to_the_verdict():
    events = stream(status("a", "running", "case 1 of 2"), status("b", "finished", None), ("verdict", "verdict", DONE))
    attempt, told = followed(Scripted(ok(QUEUED), events))
    assert attempt == DONE
    assert told == ["waiting for a free worker", "case 1 of 2", "finished", "finished"]


def test_the_place_in_the_queue_is_told():
    place = {"queue": {"ahead": 3, "expected_wait_s": 12, "workers": 1, "more": 1}}
    nobody, one = (
        {"status": "queued", "phase": None, "queue": {"ahead": 1, "expected_wait_s": None, "workers": workers}}
        for workers in (0, 1)
    )
    events = stream(("status", "a", nobody), ("status", "b", one), ("verdict", "verdict", DONE))
    script = Scripted(ok(QUEUED | place), events)
    _, told = followed(script)
    assert told[:3] == [
        "waiting: 3 ahead of you, about 12 s",
        "no worker is connected; grading starts when one connects",
        "waiting: 1 ahead of you",
    ]


def test_a_broken_stream_is_taken_up_where_it_ended():
    script = Scripted(
        ok(QUEUED),
        stream(status("a", "running", "case 1 of 2"), broken=True),
        ok(QUEUED | {"status": "running", "phase": "case 2 of 2"}),
        stream(("verdict", "verdict", DONE)),
    )
    attempt, told = followed(script)
    assert attempt == DONE
    assert "case 2 of 2" in told
    assert "Last-Event-ID" not in script.asked[1].headers
    assert script.asked[3].headers["Last-Event-ID"] == "a"


def test_without_streams_the_attempt_is_asked_for():
    nothing = httpx.Response(502)
    script = Scripted(ok(QUEUED), nothing, ok(QUEUED), httpx.ReadTimeout("silence"), ok(QUEUED), ok(QUEUED), ok(DONE))
    attempt, _ = followed(script)
    assert attempt == DONE
    paths = [request.url.path.rpartition("/")[2] for request in script.asked]
    assert paths == [ID, "events", ID, "events", ID, ID, ID]
    assert script.asked[-1].url.params["wait"] == "20"


def test_a_restart_of_the_server_is_outlived():
    script = Scripted(ok(QUEUED), DOWN, DOWN, ok(QUEUED), stream(("verdict", "verdict", DONE)))
    assert followed(script)[0] == DONE
    assert len(script.notes) == 1


def test_so_is_what_a_proxy_says_meanwhile():
    script = Scripted(ok(QUEUED), httpx.Response(502), httpx.Response(504), ok(DONE))
    assert followed(script)[0] == DONE
    assert script.slept == [1.0]


def test_an_attempt_that_was_cancelled_elsewhere_ends():
    cancelled = QUEUED | {"status": "cancelled"}
    script = Scripted(ok(QUEUED), stream(status("a", "cancelled", None)), ok(cancelled))
    assert followed(script)[0] == cancelled


def test_an_event_may_come_in_any_pieces():
    text = 'event: status\r\nid: ü\r\ndata: {"a":\r\ndata: 1}\r\n\r\n: still here\n\ndata:\u2028x\n\nevent: cut off'
    data = text.encode()
    whole = [Event("status", '{"a":\n1}', "ü"), Event("message", "\u2028x", None)]
    assert list(read_events([data])) == whole
    assert list(read_events(bytes([each]) for each in data)) == whole
