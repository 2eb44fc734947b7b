"""Runs of a lesson's programs, on the page and over REST: run once in the background, and read by their owner alone."""

import asyncio
import re

import pytest
from sqlalchemy import func, select

from app.core.database import Database
from app.grading.queue.null_grader import NullGrader
from app.learning.lessons.compiled import Compiled
from app.learning.lessons.lesson_files import Lessons
from app.learning.lessons.models import LessonRunRow
from grader.core.errors import SubmissionFault
from grader.explorer.exploration import ExploredCollective
from grader.explorer.script import Printed, ScriptFault
from grader.inputs.explored_function import read_function
from tests.app.accounts.people import SITE, browser, form_token, sign_in, sign_up
from tests.app.learning.lessons.folders import TEXT, write_lesson
from tests.grader.checks.program.made_up_programs import exchange, product, program

pytestmark = pytest.mark.anyio
HTML = {"Accept": "text/html"}
URL = "/api/v1/lessons/first/runs"
SHIPPED = "print((2, 4))\n"
EVIL = "</textarea></pre><script>alert(1)</script>\x1b[31m"


class Printing(NullGrader):
    """Prints what a test says of a source. `go` holds each run back until it is set."""

    def __init__(self, **printed):
        self.printed = {SHIPPED: Printed(stdout="(2, 4)\n"), **printed}
        self.go = asyncio.Event()
        self.go.set()
        self.ran = []

    def run_script(self, source, context):
        self.ran.append(source)
        while not self.go.is_set() and not context.stop.is_set():
            pass
        if source == "raise":
            raise RuntimeError("the grader is broken")
        return self.printed.get(source, Printed(stdout="else\n"))


@pytest.fixture
async def running(start_service, tmp_path, database_url):
    grader = Printing()
    async with start_service(grader, lessons=write_lesson(tmp_path), database_url=database_url) as service:
        service.grader = grader
        yield service


async def run(service, source=SHIPPED, program=1):
    return await service.http.post(URL, json={"program": program, "source": source}, headers=service.bearer)


async def ended(service, answer):
    assert answer.status_code == 202, answer.text
    while True:
        found = (await service.http.get(answer.headers["location"], headers=service.bearer)).json()
        if found["status"] == "finished":
            return found
        await asyncio.sleep(0.02)


async def count(service):
    async with service.services[Database].reading() as session:
        return await session.scalar(select(func.count()).select_from(LessonRunRow))


async def test_the_lesson_lists_its_programs(running):
    found = (await running.http.get("/api/v1/lessons/first")).json()["programs"]
    assert found == [{"number": 1, "code": SHIPPED, "output": "(2, 4)\n", "runs_here": True}]


async def test_a_program_that_runs_elsewhere_is_shown_and_not_run(start_service, tmp_path):
    lessons = write_lesson(tmp_path, text=TEXT.replace("```python", "```python elsewhere"))
    async with start_service(Printing(), lessons=lessons) as service:
        (program,) = (await service.http.get("/api/v1/lessons/first")).json()["programs"]
        assert program == {"number": 1, "code": SHIPPED, "output": "(2, 4)\n", "runs_here": False}
        refused = await run(service)
        assert (refused.status_code, refused.json()["slug"]) == (404, "lesson-program-not-found")
        assert "needs what the sandbox denies. Run it on your own machine" in refused.json()["detail"]
        page = (await service.http.get("/lessons/first", headers=HTML)).text
        assert "print" in page
        assert "(2, 4)" in page
        assert "Run<" not in page


@pytest.mark.parametrize(("source", "same"), [(SHIPPED, True), ("print(1)", False)])
async def test_a_run_says_whether_it_prints_what_the_lesson_shows(running, source, same):
    found = await ended(running, await run(running, source))
    assert (found["lesson"], found["program"], found["source"]) == ("first", 1, source)
    assert found["result"]["stdout"] == ("(2, 4)\n" if same else "else\n")
    assert found["prints_the_same"] is same


async def test_a_run_of_a_program_replaces_the_one_before(running):
    first = await ended(running, await run(running))
    second = await ended(running, await run(running, "print(1)"))
    assert await count(running) == 1
    gone = await running.http.get(f"/api/v1/lesson-runs/{first['id']}", headers=running.bearer)
    assert (gone.status_code, gone.json()["slug"]) == (404, "lesson-run-not-found")
    removed = await running.http.delete(f"/api/v1/lesson-runs/{second['id']}", headers=running.bearer)
    assert (removed.status_code, await count(running)) == (204, 0)


async def test_a_failure_of_the_grader_is_not_the_programs(running):
    found = await ended(running, await run(running, "raise"))
    assert found["result"]["fault"]["reason"] is None
    assert "your program is not at fault" in found["result"]["fault"]["message"]
    assert found["prints_the_same"] is None


@pytest.mark.parametrize(
    ("body", "status", "slug"),
    [
        ({"program": 2, "source": "x"}, 404, "lesson-program-not-found"),
        ({"program": 0, "source": "x"}, 422, "field-invalid"),
        ({"program": 1, "source": " "}, 422, "source-empty"),
        ({"program": 1, "source": "x" * 70_000}, 413, "source-too-large"),
        ({"program": 1}, 422, "field-missing"),
    ],
)
async def test_what_cannot_be_run_is_refused(running, body, status, slug):
    refused = await running.http.post(URL, json=body, headers=running.bearer)
    assert (refused.status_code, refused.json()["slug"]) == (status, slug)
    assert await count(running) == 0


async def test_one_program_of_a_reader_runs_at_a_time(running, tmp_path):
    text = "## One\n\n```python\nprint((2, 4))\n```\n\n## Two\n\n```python\nprint(2)\n```\n"
    claims = {"jax": "0.10.2", "devices": 8, "by_name": {}}
    running.services.add(Lessons.load(write_lesson(tmp_path / "two", text=text, claims=claims, svg=None)))
    running.grader.go.clear()
    await run(running)
    refused = await run(running, "print(2)", program=2)
    assert (refused.status_code, refused.json()["slug"]) == (429, "too-many-lesson-runs")
    assert refused.headers["Retry-After"] == "5"
    # The same program again replaces the one that runs.
    again = await run(running, "print(3)")
    running.grader.go.set()
    assert (await ended(running, again))["source"] == "print(3)"
    assert (await run(running, "print(2)", program=2)).status_code == 202


GATHER = "def gather(shard):\n    return shard\n\n\nprint((2, 4))\n"
EXPLORED = """
[[programs]]
program = 1
title = "gather"
function = "gather"
mesh = "x=8"
inputs = 'shard: int32[16] P("x")'
expected = []
"""


class Compiling(Printing):
    """Compiles what a source says: an all-gather, nothing that is sent, or no program."""

    def inspect_function(self, function, source, context, *, chip=None, options=None):
        if "unknown" in source:
            raise SubmissionFault("wrong_structure", "there is no function gather")
        if "bug" in source:
            raise RuntimeError("the grader is broken")
        found = [exchange("all-gather", 32_768, 8, source_line=2)] if "gathered" in source else []
        return (program(function.mesh, collectives=found, dots=[product(8_000, 1)]),)


@pytest.fixture
async def compiling(start_service, tmp_path, database_url):
    lessons = write_lesson(tmp_path, text=TEXT.replace("print((2, 4))\n", GATHER))
    (lessons / "first" / "explore.toml").write_text(EXPLORED, encoding="utf-8")
    async with start_service(Compiling(), lessons=lessons, database_url=database_url) as service:
        yield service


@pytest.mark.parametrize(
    ("source", "kinds", "fault", "said"),
    [
        ("gathered", ["all-gather"], "", "on <code>x=8</code>, each device sends 28.0 KiB in your <code>gather</code>"),
        ("local", [], "", "on <code>x=8</code>, <code>gather</code> sends nothing."),
        ("unknown", [], "there is no function gather", "could not be compiled, so there is no picture"),
        ("bug", [], "your program is not at fault", "could not be compiled"),
    ],
    ids=["sent", "local", "unknown", "failed"],
)
async def test_what_the_readers_own_program_sends_is_drawn(compiling, source, kinds, fault, said):
    found = (await ended(compiling, await run(compiling, source)))["compiled"]
    assert [each["collective"] for each in found["collectives"]] == kinds
    assert fault in found["fault"]
    assert bool(fault) == bool(found["fault"])
    page = (await compiling.http.get("/lessons/first", headers=HTML | compiling.bearer)).text
    assert said in page
    assert ('class="timelines"' in page) == bool(kinds)


@pytest.mark.parametrize(
    ("changed", "unlisted", "sent"),
    [
        ({"executions": 3}, 0, "sends 84.0 KiB"),
        ({"conditional": True}, 0, "sends at most 28.0 KiB"),
        ({"senders": 7, "devices": 8}, 0, "sends at most 28.0 KiB"),
        ({"executions": None}, 0, "sends at least 28.0 KiB"),
        ({"conditional": True}, 1, "sends at least 28.0 KiB"),
    ],
    ids=["in a loop", "in a branch", "one device fewer", "unknown", "not listed"],
)
def test_what_is_not_known_is_said_with_what_is_sent(changed, unlisted, sent):
    function = read_function("gather", "x=8", 'shard: int32[16] P("x")')
    once = {"collective": "all-gather", "axes": ["x"], "group_size": 8, "in_loop": False, "executions": 1}
    once |= {"conditional": False}
    found = ExploredCollective(**once | {"bytes": 32_768, "ring_bytes": 28_672, "line": 2} | changed)
    told = Compiled(function=function, collectives=[found], unlisted_collectives=unlisted).sentence
    assert f"each device {sent} in your `gather`." in told


async def test_a_program_that_ends_early_is_not_compiled(compiling, monkeypatch):
    failed = Printed(fault=ScriptFault(reason="error", message="no", line=1))
    monkeypatch.setattr(Compiling, "run_script", lambda *_: failed)
    assert (await ended(compiling, await run(compiling, "gathered")))["compiled"] is None


async def test_a_guest_runs_a_program_from_the_page_and_goes_back_to_the_lessons(running):
    async with browser(running) as http, browser(running) as other:
        page = (await http.get("/lessons/first")).text
        sent = await http.post(
            "/lessons/first/runs",
            data={"form_token": form_token(page), "program": "1", "source": "print(1)\n"},
            headers=SITE,
        )
        assert (sent.status_code, sent.headers["location"]) == (303, "/lessons/first#program-1")
        while "data-going" in (page := (await http.get("/lessons/first")).text):
            await asyncio.sleep(0.02)
        assert "The output differs from what the lesson shows, starting at line 1." in page
        assert re.search(r"<textarea[^>]*>\nprint\(1\)\n</textarea>", page)
        assert "else\n</pre>" in page
        (address,) = re.findall(r'action="(/lesson-runs/[^"]+)"', page)
        token = form_token((await other.get("/lessons/first")).text)
        assert "else\n</pre>" not in (await other.get("/lessons/first")).text
        assert (await other.post(address, data={"form_token": token}, headers=SITE)).status_code == 401
        removed = await http.post(address, data={"form_token": form_token(page)}, headers=SITE)
        assert (removed.status_code, removed.headers["location"]) == (303, "/lessons/first#program-1")
        page = (await http.get("/lessons/first")).text
        assert "<textarea" in page
        assert "print(1)" not in page


async def test_runs_of_guests_are_counted_with_their_explorations(start_service, tmp_path):
    lessons = write_lesson(tmp_path)
    async with (
        start_service(Printing(), lessons=lessons, guest_runs_per_address=1) as service,
        browser(service) as http,
    ):
        await http.get("/lessons/first")
        body = {"program": 1, "source": "x = 1"}
        sent = await http.post(URL, json=body, headers=SITE)
        assert sent.status_code == 202
        while (await http.get(sent.headers["location"])).json()["status"] != "finished":
            await asyncio.sleep(0.02)
        refused = await http.post(URL, json=body, headers=SITE)
        assert (refused.status_code, refused.json()["slug"]) == (429, "too-many-guest-runs")
        # What was refused did not replace the run before.
        assert (await http.get(sent.headers["location"])).status_code == 200
        # Somebody with an account runs on.
        assert (await service.http.post(URL, json=body, headers=service.bearer)).status_code == 202


async def test_without_guests_the_page_leads_to_signing_in(start_service, tmp_path):
    lessons = write_lesson(tmp_path)
    async with start_service(Printing(), lessons=lessons, guest_runs_in_total=0) as service:
        page = (await service.http.get("/lessons/first")).text
        assert "<textarea" not in page
        assert "to change and run it." in page
        assert "<textarea" in (await service.http.get("/lessons/first", headers=service.bearer)).text


async def test_what_is_refused_on_the_page_is_not_lost(running):
    async with browser(running) as http:
        page = (await http.get("/lessons/first")).text
        for fields, status, why in (
            ({"form_token": form_token(page), "source": " "}, 422, "contains only whitespace"),
            ({"form_token": "old", "source": "print(9)"}, 403, "The form is out of date"),
        ):
            answer = await http.post("/lessons/first/runs", data={"program": "1", **fields}, headers=SITE)
            assert answer.status_code == status
            assert why in answer.text
            assert f"\n{fields['source']}</textarea>" in answer.text
        missing = {"program": "x", "form_token": form_token(page), "source": "x"}
        assert (await http.post("/lessons/first/runs", data=missing, headers=SITE)).status_code == 404


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        (Printed(stdout=EVIL, stderr=EVIL), "starting at line 1"),
        (Printed(stdout="x", truncated=True), "only the first 16 KiB are shown"),
        (Printed(fault=ScriptFault(reason="time_limit", message=EVIL)), "The program took too long."),
        (Printed(fault=ScriptFault(reason="memory_limit", message=EVIL)), "The program used too much memory."),
        (Printed(fault=ScriptFault(reason="output_limit", message=EVIL)), "The program printed too much."),
        (Printed(fault=ScriptFault(reason="error", message=EVIL, line=3)), "The program ended with an error, line 3."),
        (Printed(fault=ScriptFault(reason="syntax_error", message=EVIL, line=1)), "Python cannot read the program,"),
        (Printed(), "starting at line 1"),
        (Printed(stdout="(2, 4)\nmore\n"), "starting at line 2"),
    ],
)
async def test_the_page_says_how_a_run_ended_and_shows_its_text_as_text(running, printed, said):
    running.grader.printed[EVIL] = printed
    await sign_in(running)
    await ended(running, await run(running, EVIL))
    page = (await running.http.get("/lessons/first")).text
    assert said in page
    assert "<script>alert" not in page
    assert "\x1b" not in page.replace(EVIL[-5:], "")
    assert page.count("</textarea>") == 1


async def test_nobody_else_reads_or_removes_a_run(running):
    own = (await ended(running, await run(running, "print('OWN')")))["id"]
    async with browser(running) as http:
        await sign_up(running, http, "ada")
        assert (await http.get(f"/api/v1/lesson-runs/{own}")).status_code == 404
        assert (await http.delete(f"/api/v1/lesson-runs/{own}", headers=SITE)).status_code == 404
        assert "OWN" not in (await http.get("/lessons/first")).text
    assert (await running.http.get(f"/api/v1/lesson-runs/{own}")).status_code == 401
