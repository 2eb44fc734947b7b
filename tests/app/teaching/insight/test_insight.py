"""What instructors see of a problem is what students sent, on each database, in a bounded number of queries."""

import re

import pytest
from sqlalchemy import event, select

from app.accounts.models import UserRow
from app.core.clock import now
from app.core.database import Database
from app.grading.queue.leases import faults_of
from app.grading.queue.models import AttemptRow
from tests.app.accounts.people import browser, send_form, sign_up
from tests.app.program_verdict import program_verdict
from tests.app.teaching.people.test_attempts_of_others import GOOD, send

pytestmark = pytest.mark.anyio


async def test_a_class_at_a_problem(either):
    async with browser(either) as ada, browser(either) as bob, browser(either) as tess:
        await sign_up(either, ada, "ada")
        await sign_up(either, bob, "bob")
        await sign_up(either, tess, "tess", "instructor")
        assert "Nobody" not in (await tess.get("/insight")).text
        for http, sources in ((ada, ["x", "y", GOOD]), (bob, ["<b>"]), (tess, ["z", GOOD])):
            for source in sources:
                await send(either, http, source)
        await send_form(bob, "/problems/add_one/report", "/problems/add_one/report", text="Case 1 is <wrong>.")

        found = (await tess.get("/api/v1/problems/add_one/insight")).json()
        assert (found["people"], found["solved"], found["graded"], found["accepted"]) == (2, 1, 4, 1)
        assert (found["median_attempts"], found["rejected"], found["unexplained"]) == (3, 3, 3)
        [check] = found["checks"]
        assert check == {"name": "values", "attempts": 3, "people": 2, "stuck": 1}
        [line] = (await tess.get("/api/v1/insight")).json()["problems"]
        assert line == {"problem": "add_one", "people": 2, "solved": 1, "attempts": 4, "accepted": 1}

        page = (await tess.get("/problems/add_one/insight")).text
        for words in ("1 of 2 people who tried (50%)", "1 of 4 (25%)", "Attempts until solved", "3: 1 person"):
            assert words in page
        assert "Case 1 is &lt;wrong&gt;." in page
        example = found["clusters"][0]["example"]
        link = f"/people/{example['user']}/attempts/{example['attempt']}"
        assert link in page
        assert (await tess.get(link)).status_code == 200
        assert "Add one</a>" in (await tess.get("/insight")).text
        for path in ("/insight", "/problems/add_one/insight"):
            assert (await ada.get(path)).status_code == 403
        assert (await tess.get("/problems/no_such/insight")).status_code == 404


async def test_no_attempts_is_not_a_division_by_zero(service):
    page = await service.http.get("/problems/add_one/insight", headers=service.bearer | {"Accept": "text/html"})
    assert (page.status_code, "nobody has tried" in page.text) == (200, True)
    assert "No attempts yet" in (await service.http.get("/insight", headers=service.bearer)).text


async def test_a_new_version_keeps_the_insight_into_the_earlier_ones(either):
    """Two attempts at a version that is no longer served, and one at the served one."""
    async with browser(either) as ada, browser(either) as bob, browser(either) as tess:
        await sign_up(either, ada, "ada")
        await sign_up(either, bob, "bob")
        await sign_up(either, tess, "tess", "instructor")
        old = [await send(either, http, "x") for http in (ada, bob)]
        async with either.services[Database].writing() as session:
            for attempt_id in old:
                row = await session.get_one(AttemptRow, attempt_id)
                row.version = "0" * 64
                row.faults = {**row.faults, "cases": ["gone"]}
        await send(either, bob, "x")
        await send(either, ada, GOOD)
        path = "/api/v1/problems/add_one/insight"
        found = (await tess.get(path)).json()
        assert (found["graded"], found["rejected"], found["unexplained"]) == (4, 3, 3)
        served = found["version"]
        assert found["versions"] == [{"version": served, "attempts": 2}, {"version": "0" * 64, "attempts": 2}]
        assert found["left_out"] == ["gone"]
        assert "gone" not in [each["name"] for each in found["cases"]]
        only = (await tess.get(path, params={"versions": "served"})).json()
        assert (only["graded"], only["rejected"], only["left_out"]) == (2, 1, [])
        assert only["versions"] == [{"version": served, "attempts": 2}]
        assert (await tess.get(path, params={"versions": "newest"})).status_code == 422
        for choice, words, attempts in (
            ("", "3 attempts were rejected.", 3),
            ("?versions=served", "1 attempt was rejected by the served version.", 1),
        ):
            page = " ".join((await tess.get(f"/problems/add_one/insight{choice}")).text.split())
            assert words in page
            assert (f'<code title="{"0" * 64}">' in page) is (attempts == 3)
            members = 0
            for link in re.findall(r'href="(/problems/add_one/insight/clusters/[^"]+)"', page):
                members += (await tess.get(link)).text.count('type="radio" name="attempt"')
            assert members == attempts


async def test_thousands_of_attempts_take_as_many_queries_as_one(either):
    async with browser(either) as ada:
        await sign_up(either, ada, "ada")
        one = await send(either, ada, "x")
    async with either.services[Database].writing() as session:
        row = await session.get_one(AttemptRow, one)
        values = {column.name: getattr(row, column.key) for column in AttemptRow.__table__.columns}
        for number in range(50):
            session.add(UserRow(id=f"{number:032x}", name=f"s{number}", role="student", created_at=now()))
        await session.flush()
        session.add_all(
            AttemptRow(**values | {"id": f"{number:032x}", "user_id": f"{number % 50:032x}"}) for number in range(2000)
        )
    statements = []
    engine = either.services[Database].engine.sync_engine
    event.listen(engine, "before_cursor_execute", lambda *args: statements.append(args[2]))
    found = (await either.http.get("/api/v1/problems/add_one/insight", headers=either.bearer)).json()
    assert (found["people"], found["graded"]) == (51, 2001)
    # Other parts of the service ask meanwhile, but not about a problem.
    assert len([each for each in statements if "attempts.problem = " in each]) == 2


async def test_the_commonest_fault_is_drawn_and_nobody_is_named(service):
    async with browser(service) as ada:
        await sign_up(service, ada, "ada")
        sent = await send(service, ada, "x")
    page = service.http.get
    as_owner = service.bearer | {"Accept": "text/html"}
    verdict = program_verdict("add_one", wrong=True)
    async with service.services[Database].writing() as session:
        row = await session.get_one(AttemptRow, sent)
        row.verdict, row.verdict_status, row.score = verdict.model_dump(mode="json"), "rejected", 0
        row.faults = faults_of(verdict)
        values = {column.name: getattr(row, column.key) for column in AttemptRow.__table__.columns}
    for number in range(4):
        assert "Commonest fault" not in (await page("/problems/add_one/insight", headers=as_owner)).text
        async with service.services[Database].writing() as session:
            student = UserRow(id=f"{number:032x}", name=f"student{number}", role="student", created_at=now())
            session.add(student)
            await session.flush()
            session.add(AttemptRow(**values | {"id": f"{number:032x}", "user_id": student.id}))
    shown = (await page("/problems/add_one/insight", headers=as_owner)).text
    section = shown.partition('<h2 id="common">')[2].partition("</section>")[0]
    assert "5 of 5 people who tried, in 5 attempts." in section
    assert '<figure class="first-picture">' in section
    assert not re.search("student|ada|href=", section)


async def test_only_a_rejected_attempt_has_faults(either):
    async with browser(either) as ada:
        await sign_up(either, ada, "ada")
        ids = {await send(either, ada, "x"): True, await send(either, ada, GOOD): False}
    async with either.services[Database].reading() as session:
        for attempt_id, faults in (await session.execute(select(AttemptRow.id, AttemptRow.faults))).all():
            assert (faults is not None) is ids[attempt_id]


async def test_a_problem_is_found_by_title_or_slug(service):
    async with browser(service) as tess:
        await sign_up(service, tess, "tess", "instructor")
        for sought in ("add_one", "ADD_", " add one "):
            answer = await tess.get("/insight", params={"problem": sought})
            assert answer.headers.get("location") == "/problems/add_one/insight", sought
            answer = await tess.get("/authoring", params={"problem": sought})
            assert answer.headers.get("location") == "/authoring/add_one", sought
        for page in ("/insight", "/authoring"):
            answer = await tess.get(page, params={"problem": "<none>"})
            assert "matches “&lt;none&gt;”" in answer.text
            assert '<option value="add_one">' in answer.text
