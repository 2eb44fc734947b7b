"""An exam that sections sit at different times: who can start it when, and what it keeps from whom."""

from datetime import datetime, timedelta

import pytest

from app.accounts.caller import User
from app.core.clock import end_of_minute
from app.core.database import Database
from app.teaching.courses.exams import OpenExams
from tests.app.teaching.courses.exam_problem import SLUG
from tests.app.teaching.courses.test_courses import JSON, at, create, people
from tests.app.teaching.courses.test_exam_starts import make, start, submit
from tests.app.teaching.courses.test_open_exams import HTML
from tests.app.teaching.courses.test_sections import dates, join_section
from tests.app.teaching.people.test_attempts_of_others import GOOD, me, send

pytestmark = pytest.mark.anyio
__all__ = ["people"]
PROBLEM = f"/api/v1/problems/{SLUG}"


async def in_sections(either, people, opens: str, due: str, **settings: object) -> str:
    """The path of an exam that ada sits in section A, and bob in B, which has other dates."""
    ada, bob, tess = people
    course, path = await make(either, tess, **settings)
    for http, section in ((ada, "A"), (bob, "B")):
        await join_section(either, http, course, section)
    answer = await tess.put(f"/api/v1{path}/sections", json=dates("B", opens, due), headers=JSON)
    assert answer.status_code == 204, answer.text
    return path


async def test_the_own_time_is_within_the_dates_of_the_section(either, people):
    ada, bob, tess = people
    hours = {"opens": at(hours=-4), "due": at(hours=-2)}
    path = await in_sections(either, people, at(hours=-1), at(minutes=20), duration_minutes=30)
    assert (await tess.put(f"/api/v1{path}", json=await _body(tess, path) | hours, headers=JSON)).status_code == 200
    # Their section is over, and the exam is not: another one still sits it.
    assert (await start(ada, path)).json()["slug"] == "exam-time-over"
    assert (await ada.get(PROBLEM)).status_code == 404
    begun = (await start(bob, path)).json()
    started, ends = (datetime.fromisoformat(begun[each]) for each in ("started_at", "ends_at"))
    assert timedelta(minutes=19) < ends - started < timedelta(minutes=21)
    assert (await submit(bob)).status_code == 200
    # More time is added to both, the dates of the section and the own time.
    for extra in (5, 60):
        body = {"extra_minutes": extra, "reason": "ill"}
        answer = await tess.put(f"/api/v1{path}/extensions/{await me(bob)}", json=body, headers=JSON)
        assert answer.status_code == 204, answer.text
        mine = datetime.fromisoformat((await bob.get(f"/api/v1{path}/start")).json()["ends_at"])
        assert mine - ends == timedelta(minutes=extra)
    book = (await tess.get(f"/api/v1{path.split('/assignments')[0]}/gradebook")).json()
    assert {each["name"]: each["total"] for each in book["students"]} == {"ada": 0, "bob": 100}


async def test_the_exam_opens_and_is_shown_by_the_dates_of_the_section(either, people):
    ada, bob, _ = people
    path = await in_sections(either, people, at(hours=3), at(hours=5))
    assert (await ada.get(PROBLEM)).status_code == 200
    assert (await bob.get(PROBLEM)).status_code == 404
    for address in (f"{path}/exam", path.split("/assignments")[0]):
        assert SLUG not in (await bob.get(address, headers=HTML)).text
        assert SLUG in (await ada.get(address, headers=HTML)).text
    assert (await start(bob, path)).status_code == 404


async def test_a_section_that_sits_first_opens_the_exam_to_nobody_else(either, people):
    ada, bob, tess = people
    hours = {"opens": at(hours=3), "due": at(hours=5)}
    path = await in_sections(either, people, at(hours=-1), at(hours=1), duration_minutes=30)
    assert (await tess.put(f"/api/v1{path}", json=await _body(tess, path) | hours, headers=JSON)).status_code == 200
    assert (await start(ada, path)).status_code == 404
    assert (await ada.get(PROBLEM)).status_code == 404
    assert (await start(bob, path)).status_code == 200
    assert (await bob.get(PROBLEM)).status_code == 200


async def test_what_is_sent_before_the_own_section_opens_is_hidden_with_the_rest(either, people):
    ada, bob, tess = people
    course = await create(tess, exam=True, closed_for="everyone")
    for http, section in ((ada, "A"), (bob, "B")):
        await join_section(either, http, course, section)
    [exam] = (await tess.get(f"/api/v1/courses/{course['id']}/assignments")).json()["assignments"]
    sections = f"/api/v1/courses/{course['id']}/assignments/{exam['id']}/sections"
    await tess.put(sections, json=dates("B", at(hours=2), at(hours=4)), headers=JSON)
    for http in (ada, bob):
        assert (await http.get(f"/api/v1/attempts/{await send(either, http, GOOD)}")).json()["verdict"] is None


async def test_an_exam_is_open_to_a_section_by_its_dates_and_to_others_from_the_first(either, people):
    ada, bob, tess = people
    course = await create(tess, exam=True, closed_for="everyone", opens=at(hours=3), due=at(hours=5))
    for http, section in ((ada, "A"), (bob, "B")):
        await join_section(either, http, course, section)
    [exam] = (await tess.get(f"/api/v1/courses/{course['id']}/assignments")).json()["assignments"]
    exams = OpenExams(either.services[Database])
    assert await exams.open(None, "add_one") is None
    sections = f"/api/v1/courses/{course['id']}/assignments/{exam['id']}/sections"
    await tess.put(sections, json=dates("B", at(hours=-1), at(hours=1)), headers=JSON)
    users = [User(await me(http), "someone", "student") for http in (ada, bob)]
    found = [await exams.open(user, "add_one") for user in (None, *users)]
    assert [each is not None for each in found] == [True, False, True]
    assert found[0].until == end_of_minute(datetime.fromisoformat(exam["due_at"]))


async def _body(tess, path: str) -> dict:
    """What would make the exam again."""
    course = path.split("/assignments")[0]
    [exam] = (await tess.get(f"/api/v1{course}/assignments")).json()["assignments"]
    kept = ("name", "exam", "duration_minutes", "closes", "closed_for")
    return {key: exam[key] for key in kept} | {"problems": [{"problem": SLUG, "points": 100}]}
