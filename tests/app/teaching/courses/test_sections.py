"""Dates of a section: what its students read, what counts for them, and how extensions, limits and exams follow."""

import pytest

from app.core.clock import now
from app.core.database import Database
from app.core.ids import new_id
from app.teaching.courses.models import RosterLineRow
from tests.app.accounts.people import SITE, send_form, sign_in
from tests.app.teaching.courses.test_courses import JSON, at, create, join, people
from tests.app.teaching.people.test_attempts_of_others import GOOD, me, send
from tests.app.teaching.people.test_people import entries

pytestmark = pytest.mark.anyio
__all__ = ["people"]


async def join_section(either, http, course: dict, section: str) -> None:
    await join(http, course)
    row = RosterLineRow(
        id=new_id(),
        course_id=course["id"],
        user_id=await me(http),
        role="student",
        name="someone",
        section=section,
        created_at=now(),
    )
    async with either.services[Database].writing() as session:
        session.add(row)


async def in_sections(either, people, **fields: object) -> dict:
    """A course whose assignment was due yesterday, with ada in section A and bob in B. `sections` is its path."""
    ada, bob, tess = people
    course = await create(tess, **{"opens": at(days=-9), "due": at(days=-1)} | fields)
    for http, section in ((ada, "A"), (bob, "B")):
        await join_section(either, http, course, section)
    [assignment] = (await tess.get(f"/api/v1/courses/{course['id']}/assignments")).json()["assignments"]
    path = f"/courses/{course['id']}/assignments/{assignment['id']}"
    return course | {"path": path, "sections": f"{path}/sections", "assignment": assignment}


def dates(section: str = "B", opens: str | None = None, due: str | None = None) -> dict:
    return {"sections": [{"section": section, "opens": opens or at(days=-2), "due": due or at(days=2)}]}


async def points(tess, course: dict) -> dict[str, float | None]:
    book = (await tess.get(f"/api/v1/courses/{course['id']}/gradebook")).json()
    return {each["name"]: each["cells"][0]["points"] for each in book["students"]}


async def test_the_dates_of_a_section_replace_those_of_the_assignment(either, people):
    ada, bob, tess = people
    course = await in_sections(either, people)
    for http in (ada, bob):
        await send(either, http, GOOD)
    assert await points(tess, course) == {"ada": None, "bob": None}
    path = f"/api/v1{course['sections']}"
    assert (await tess.put(path, json=dates(), headers=JSON)).status_code == 204
    assert await points(tess, course) == {"ada": None, "bob": 50}
    [stored] = (await tess.get(path)).json()["sections"]
    for http, expected in ((ada, course["assignment"]["due_at"]), (bob, stored["due_at"])):
        [mine] = (await http.get(f"/api/v1/courses/{course['id']}/assignments")).json()["assignments"]
        assert mine["due_at"] == expected
    assert (await tess.put(path, json=dates(opens=at(days=1)), headers=JSON)).status_code == 204
    assert (await bob.get(f"/api/v1/courses/{course['id']}/assignments")).json()["assignments"] == []
    assert "Week 1" not in (await bob.get(f"/courses/{course['id']}")).text
    assert (await tess.put(path, json={"sections": []}, headers=JSON)).status_code == 204
    assert await points(tess, course) == {"ada": None, "bob": None}


async def test_an_extension_comes_on_top_of_the_dates_of_a_section(either, people):
    _, bob, tess = people
    course = await in_sections(either, people)
    await tess.put(f"/api/v1{course['sections']}", json=dates(due=at(hours=-1)), headers=JSON)
    await send(either, bob, GOOD)
    assert (await points(tess, course))["bob"] is None
    extra = {"extra_minutes": 120, "reason": "ill"}
    path = f"/api/v1{course['path']}/extensions/{await me(bob)}"
    assert (await tess.put(path, json=extra, headers=JSON)).status_code == 204
    assert (await points(tess, course))["bob"] == 50


async def test_a_limit_counts_by_the_dates_of_the_section(either, people):
    ada, bob, tess = people
    course = await in_sections(either, people, attempt_limit=1)
    await tess.put(f"/api/v1{course['sections']}", json=dates(), headers=JSON)
    for http, statuses in ((ada, [202, 202]), (bob, [202, 403])):
        for status in statuses:
            answer = await http.post("/api/v1/problems/add_one/attempts", json={"source": GOOD}, headers=JSON)
            assert answer.status_code == status, answer.text


async def test_an_exam_is_open_until_its_last_section_is_over(either, people):
    ada, _, tess = people
    course = await in_sections(either, people, exam=True)
    attempt = await send(either, ada, GOOD)
    assert (await ada.get(f"/api/v1/attempts/{attempt}")).json()["verdict"] is not None
    await tess.put(f"/api/v1{course['sections']}", json=dates(), headers=JSON)
    assert (await ada.get(f"/api/v1/attempts/{attempt}")).json()["verdict"] is None
    await tess.put(f"/api/v1{course['sections']}", json={"sections": []}, headers=JSON)
    assert (await ada.get(f"/api/v1/attempts/{attempt}")).json()["verdict"] is not None


async def test_the_page_of_an_assignment_has_a_form(either, people):
    ada, _, tess = people
    await sign_in(either)
    course = await in_sections(either, people)
    page, action = f"{course['path']}/edit", course["sections"]
    fields = {"section": "B", "opens": "2026-01-12T09:00", "due": "2026-01-19T23:59"}
    done = await send_form(tess, page, action, **fields)
    assert (done.status_code, done.headers["location"]) == (303, f"{page}#sections")
    shown = (await tess.get(page)).text
    assert "Mon 19 Jan 2026, 23:59" in shown
    assert (await entries(either))[0][0] == "assignment-changed"
    for wrong, words in (
        ({"due": "2026-01-01T00:00"}, "due: must be after opens"),
        ({"section": "C"}, "C&#39;. It has A, B."),
        ({"opens": ""}, "opens: give a local date"),
    ):
        refused = await send_form(tess, page, action, **fields | wrong)
        assert refused.status_code in (409, 422), wrong
        assert words in refused.text
    await send_form(tess, page, action, section="B", step="take")
    assert (await tess.get(f"/api/v1{action}")).json() == {"sections": []}
    assert (await ada.put(f"/api/v1{action}", json=dates(), headers=SITE)).status_code == 403
