"""In an exam a student learns nothing about how an attempt was graded, wherever they look, until it has closed."""

import json
import re
from datetime import datetime, timedelta

import pytest
from sqlalchemy import select

from app.accounts.caller import User
from app.core.clock import MINUTE, end_of_minute, now
from app.core.database import Database
from app.grading.attempts.live_updates import followed_attempt
from app.grading.attempts.progress import progress, standings
from app.grading.attempts.ranking import ranking
from app.grading.attempts.service import Attempts
from app.grading.following import event_stream
from app.grading.queue.events import Change
from app.grading.queue.models import AttemptRow
from app.grading.queue.withheld_verdicts import WithheldRow
from app.teaching.courses.assignments import AssignmentChanges, Terms
from app.teaching.courses.models import AssignmentRow
from app.teaching.courses.service import Courses
from tests.app.accounts.people import SITE, send_form
from tests.app.teaching.courses.test_assignments import only_assignment, total_of
from tests.app.teaching.courses.test_courses import JSON, at, create, join, people
from tests.app.teaching.people.test_attempts_of_others import GOOD, me, send

pytestmark = pytest.mark.anyio
__all__ = ["people"]
# What says how an attempt was graded: words of pages and fields of REST.
TELLS = re.compile(r"accepted|rejected|100 points|50 of 50|every value|misconception", re.IGNORECASE)


@pytest.fixture
async def exam(either, people):
    ada, _, tess = people
    course = await create(tess, exam=True)
    await join(ada, course)
    return course


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


async def user_of(either, http):
    mine = (await http.get("/api/v1/me")).json()
    return User(mine["id"], mine["name"], mine["role"])


async def read_all(either, http, attempt: str) -> dict[str, str]:
    """Everything that the student can read about an attempt, by where."""
    pages = [
        "/attempts",
        f"/attempts/{attempt}",
        f"/attempts/{attempt}/verdict",
        "/problems/add_one/previous",
        "/progress",
    ]
    rest = [
        "attempts",
        f"attempts/{attempt}",
        f"attempts/{attempt}/events",
        f"batch/attempts?id={attempt}",
        "me/progress",
    ]
    found = {path: (await http.get(path, headers={"Accept": "text/html"})).text for path in pages}
    found |= {path: (await http.get(f"/api/v1/{path}")).text for path in rest}
    found["export"] = json.dumps((await http.get("/api/v1/me/export")).json()["attempts"])
    for status in ("accepted", "rejected", "failed"):
        page = (await http.get(f"/attempts?status={status}", headers={"Accept": "text/html"})).text
        found[f"filter {status}"] = "found" if attempt in page else ""
    return found


async def set_status(either, attempt: str, change: Change) -> None:
    async with either.services[Database].writing() as session:
        row = await session.get_one(AttemptRow, attempt)
        row.status, row.phase = change.status, change.phase


async def test_while_it_is_graded_no_phase_is_told(either, people, exam):
    """Which case is running, and for how long, would tell how far a wrong attempt got."""
    ada, _, _ = people
    attempt = await send(either, ada, GOOD)
    attempts, user = either.services[Attempts], await user_of(either, ada)
    graded = [Change("running", "public case 1 of 2"), Change("running", "hidden case 1 of 2")]
    streams = []
    for phases in (graded[:1], graded):
        await set_status(either, attempt, phases[0])
        stream = event_stream(followed_attempt(attempts, user, attempt))
        told = [await anext(stream)]
        for change in phases:
            attempts.events.publish(attempt, change)
        await set_status(either, attempt, Change("finished", None))
        attempts.events.publish(attempt, Change("finished", None))
        streams.append(told + [each async for each in stream])
    assert streams[0] == streams[1]
    assert not any(b"case" in each for each in streams[1])


async def test_nothing_says_how_it_was_graded_until_it_closes(either, people, exam):
    ada, _, tess = people
    attempt = await send(either, ada, GOOD)
    user = await user_of(either, ada)
    found = await read_all(either, ada, attempt)
    stored = json.loads(found[f"attempts/{attempt}"])
    assert (stored["status"], stored["verdict"], stored["score"]) == ("finished", None, None)
    assert moment(stored["withheld_until"]) == end_of_minute(moment((await only_assignment(tess, exam))["due_at"]))
    assert "belongs to an exam" in found[f"/attempts/{attempt}"]
    assert found[f"/attempts/{attempt}/verdict"] == ""
    for where in (
        f"attempts/{attempt}",
        f"attempts/{attempt}/events",
        "attempts",
        "export",
        f"batch/attempts?id={attempt}",
    ):
        assert not TELLS.search(found[where].replace(GOOD, "")), where
    assert not [name for name, text in found.items() if text == "found"]
    for where in ("/attempts", "/problems/add_one/previous"):
        assert 'data-status="submitted"' in found[where]
    [row] = json.loads(found["export"])
    assert not {"verdict", "score", "verdict_status", "faults", "efficiency"} & row.keys()
    assert await standings(either.services[Database], user) == {}
    [reached] = (await progress(either.services[Database], user)).values()
    assert (reached.best_score, reached.accepted) == (None, False)
    assert (await ada.get("/api/v1/problems/add_one/editorial")).status_code == 403
    assert "50 of 50" not in (await ada.get(f"/courses/{exam['id']}")).text

    # Instructors and the gradebook see all of it.
    assert await total_of(tess, exam) == 50
    person = await me(ada)
    seen = (await tess.get(f"/api/v1/people/{person}/attempts/{attempt}")).json()
    assert (seen["verdict"]["status"], seen["withheld_until"]) == ("accepted", None)
    assert "accepted" in (await tess.get(f"/people/{person}/attempts")).text
    assert "accepted" in (await tess.get(f"/people/{person}/problems/add_one")).text

    assignment = (await only_assignment(tess, exam))["id"]
    async with either.services[Database].writing() as session:
        (await session.get_one(WithheldRow, (attempt, assignment))).until = now() - MINUTE
        (await session.get_one(AssignmentRow, assignment)).due_at = now() - MINUTE
    opened = (await ada.get(f"/api/v1/attempts/{attempt}")).json()
    assert (opened["verdict"]["status"], opened["score"], opened["withheld_until"]) == ("accepted", 100, None)
    assert (await standings(either.services[Database], user))["add_one"].accepted
    assert (await ada.get("/api/v1/problems/add_one/editorial")).status_code == 200


async def test_a_shared_link_a_comparison_and_a_repetition_say_nothing_either(either, people, exam):
    ada, bob, _ = people
    key = JSON | {"Idempotency-Key": "k"}
    body = {"source": GOOD}
    first = (await ada.post("/api/v1/problems/add_one/attempts?wait=60", json=body, headers=key)).json()
    again = (await ada.post("/api/v1/problems/add_one/attempts", json=body, headers=key)).json()
    assert (first["verdict"], again["id"], again["verdict"]) == (None, first["id"], None)
    other = await send(either, ada, "x = 1\n")
    shown = (await ada.get(f"/attempts/compare?a={other}&b={first['id']}")).text
    assert shown.count('data-status="submitted"') == 2
    page = f"/attempts/{first['id']}"
    shared = await send_form(ada, page, f"{page}/share")
    link = re.search(r"/shared/[\w-]+", shared.text)[0]
    assert not TELLS.search((await bob.get(link)).text.replace("return x + 1", ""))
    sheet = await ada.get(page, headers=SITE | {"Accept": "text/html"})
    assert "Rejudged" not in sheet.text


async def test_the_ranking_leaves_it_out_for_everyone(either, people, exam):
    ada, bob, _ = people
    attempt = await send(either, ada, GOOD)
    async with either.services[Database].writing() as session:
        (await session.get_one(AttemptRow, attempt)).efficiency = 120.0
    reader = await user_of(either, bob)
    assert (await ranking(either.services[Database], "add_one", reader, 10)).users == 0
    async with either.services[Database].writing() as session:
        for row in list(await session.scalars(select(WithheldRow))):
            row.until = now() - MINUTE
    assert (await ranking(either.services[Database], "add_one", reader, 10)).users == 1


async def test_a_change_of_the_exam_changes_what_is_hidden(either, people):
    ada, bob, tess = people
    course = await create(tess)
    for http in (ada, bob):
        await join(http, course)
    attempt = await send(either, ada, GOOD)
    run = await send(either, ada, GOOD, "runs")
    of_instructor = await send(either, tess, GOOD)
    assignment = await only_assignment(tess, course)
    path = f"/api/v1/courses/{course['id']}/assignments/{assignment['id']}"
    body = {"name": "Exam", "opens": at(days=-1), "due": at(hours=1), "problems": [{"problem": "add_one"}]}

    async def until() -> str | None:
        return (await ada.get(f"/api/v1/attempts/{attempt}")).json()["withheld_until"]

    assert await until() is None
    changed = (await tess.put(path, json=body | {"exam": True}, headers=JSON)).json()
    assert moment(await until()) == end_of_minute(moment(changed["due_at"]))
    for http, other in ((ada, run), (tess, of_instructor)):
        assert (await http.get(f"/api/v1/attempts/{other}")).json()["withheld_until"] is None
    # One student's extra time keeps the verdicts from all.
    more = {"extra_minutes": 60, "reason": "dyslexia"}
    assert (await tess.put(f"{path}/extensions/{await me(bob)}", json=more, headers=JSON)).status_code == 204
    assert moment(await until()) > end_of_minute(moment(changed["due_at"]))
    assert (await tess.put(path, json=body, headers=JSON)).status_code == 200
    assert await until() is None
    await tess.put(path, json=body | {"exam": True}, headers=JSON)
    assert await until() is not None
    assert (await tess.delete(path, headers=JSON)).status_code == 204
    assert await until() is None


async def test_a_student_who_has_finished_learns_nothing_while_others_have_time(either, people):
    ada, bob, tess = people
    course = await create(tess, exam=True)
    for http in (ada, bob):
        await join(http, course)
    assignment = await only_assignment(tess, course)
    path = f"/api/v1/courses/{course['id']}/assignments/{assignment['id']}"
    body = {"name": "Exam", "opens": at(days=-1), "due": at(minutes=-5), "problems": [{"problem": "add_one"}]}
    assert (await tess.put(path, json=body | {"exam": True}, headers=JSON)).status_code == 200
    more = {"extra_minutes": 60, "reason": "dyslexia"}
    assert (await tess.put(f"{path}/extensions/{await me(bob)}", json=more, headers=JSON)).status_code == 204
    for http in (ada, bob):
        sent = (await http.get(f"/api/v1/attempts/{await send(either, http, GOOD)}")).json()
        assert (sent["status"], sent["verdict"]) == ("finished", None)


async def test_an_exam_is_open_for_the_whole_minute_in_which_it_closes(either, people, monkeypatch):
    ada, _, tess = people
    course = await create(tess, exam=True)
    await join(ada, course)
    due_at = moment((await only_assignment(tess, course))["due_at"])
    attempt = await send(either, ada, GOOD)
    async with either.services[Database].writing() as session:
        (await session.get_one(AttemptRow, attempt)).created_at = due_at + timedelta(seconds=30)
    for seconds, is_open in ((30, True), (60, False)):
        at_that_time = due_at + timedelta(seconds=seconds)
        for module in ("app.grading.queue.withheld_verdicts", "app.teaching.courses.exams"):
            monkeypatch.setattr(f"{module}.now", lambda shown=at_that_time: shown)
        found = (await ada.get(f"/api/v1/attempts/{attempt}")).json()
        assert (found["withheld_until"] is not None) is is_open, seconds
        assert (found["score"] is None) is is_open, seconds
        assert ((await ada.get("/api/v1/problems/add_one/hints")).status_code == 403) is is_open, seconds
    # A change withholds again what was sent until then, and no more.
    assignments, courses = either.services[AssignmentChanges], either.services[Courses]
    user = await user_of(either, tess)
    found = await courses.get(user, course["id"])
    [before] = await courses.assignments(found)
    for seconds, is_hidden in ((59, True), (60, False)):
        async with either.services[Database].writing() as session:
            (await session.get_one(AttemptRow, attempt)).created_at = due_at + timedelta(seconds=seconds)
        terms = Terms(f"Exam {seconds}", before.opens_at, due_at, None, before.problems, is_exam=True)
        await assignments.change(user, found, before, terms)
        async with either.services[Database].reading() as session:
            assert bool((await session.scalars(select(WithheldRow))).all()) is is_hidden, seconds
