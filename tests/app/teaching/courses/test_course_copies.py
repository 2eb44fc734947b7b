"""A course is copied to the next term: on other days, by the same rules, without people."""

import pytest
from sqlalchemy import select

from app.core.clock import now
from app.core.database import Database
from app.problems.catalogue import Catalogue
from app.problems.models import CourseProblemRow
from app.teaching.courses.models import AssignmentRow, CategoryRow
from tests.app.accounts.people import send_form
from tests.app.teaching.courses.test_courses import JSON, join, people

__all__ = ["people"]

pytestmark = pytest.mark.anyio
PROBLEMS = [{"problem": "add_one", "points": 50}]
WEEK = {"name": "Week 1", "opens": "2026-10-19T00:00", "due": "2026-11-01T23:59", "late_percent": 10}
EXAM = {"name": "Exam", "opens": "2027-01-25T10:00", "due": "2027-01-25T12:00", "exam": True}
RULES = {"attempt_limit": 3, "cool_down_minutes": 5}
OF_EXAM = {"closes": ["hints", "explorer"], "closed_for": "everyone", "duration_minutes": 90, "password": "sesame"}


async def make(http) -> dict:
    course = {"name": "JAX, autumn", "time_zone": "Europe/Berlin"}
    course = (await http.post("/api/v1/courses", json=course, headers=JSON)).json()
    for body in (WEEK | RULES, EXAM | OF_EXAM | {"addresses": ["192.0.2.0/24"]}):
        path = f"/api/v1/courses/{course['id']}/assignments"
        answer = await http.post(path, json=body | {"problems": PROBLEMS}, headers=JSON)
        assert answer.status_code == 201, answer.text
    return course


async def test_everything_but_people_and_passwords_is_copied_to_other_days(either, people):
    ada, _, tess = people
    old = await make(tess)
    await join(ada, old)
    await tess.post(f"/api/v1/courses/{old['id']}/announcements", json={"text": "Welcome"}, headers=JSON)
    async with either.services[Database].writing() as session:
        week = await session.scalar(select(AssignmentRow).where(AssignmentRow.name == "Week 1"))
        week.category, week.weight, week.counted, week.grace_minutes = "Homework", 2, "last", 30
        session.add(CategoryRow(course_id=old["id"], position=0, name="Homework", weight=60, drop_lowest=1))
        version = either.services[Catalogue].get("add_one").version
        given = {"problem": "add_one", "version": version, "visible_from": now()}
        session.add(CourseProblemRow(course_id=old["id"], **given))
    path = f"/api/v1/courses/{old['id']}/copy"
    preview = (await tess.get(f"{path}?opens=2027-03-15")).json()["assignments"]
    # The clocks change on 25 October 2026 and on 28 March 2027.
    assert [(each["name"], each["opens"], each["due"]) for each in preview] == [
        ("Week 1", "2027-03-15T00:00", "2027-03-28T23:59"),
        ("Exam", "2027-06-21T10:00", "2027-06-21T12:00"),
    ]
    assert [each["due_now"] for each in preview] == ["2026-11-01T23:59", "2027-01-25T12:00"]
    answer = await tess.post(path, json={"name": "JAX, spring", "opens": "2027-03-15"}, headers=JSON)
    new = answer.json()
    assert (answer.status_code, new["name"], new["time_zone"]) == (201, "JAX, spring", "Europe/Berlin")
    assert new["join_code"] != old["join_code"]
    assert (await tess.get(f"/api/v1/courses/{new['id']}/instructors")).json()["instructors"][0]["name"] == "tess"
    assert (await tess.get(f"/api/v1/courses/{new['id']}/gradebook")).json()["students"] == []
    assert (await tess.get(f"/api/v1/courses/{new['id']}/announcements")).json()["announcements"] == []
    assert (await ada.get(f"/api/v1/courses/{new['id']}")).status_code == 404
    listed = [(await tess.get(f"/api/v1/courses/{each['id']}/assignments")).json() for each in (old, new)]
    others = ("id", "opens_at", "due_at", "has_password")
    before, after = [
        [{name: value for name, value in each.items() if name not in others} for each in found["assignments"]]
        for found in listed
    ]
    assert after == before
    assert [each["due_at"][:16] for each in listed[1]["assignments"]] == ["2027-03-28T21:59", "2027-06-21T10:00"]
    async with either.services[Database].reading() as session:
        rows = await session.scalars(select(AssignmentRow).where(AssignmentRow.course_id == new["id"]))
        by_name = {each.name: each for each in rows}
        [category] = await session.scalars(select(CategoryRow).where(CategoryRow.course_id == new["id"]))
        [own] = await session.scalars(select(CourseProblemRow).where(CourseProblemRow.course_id == new["id"]))
    week, exam = by_name["Week 1"], by_name["Exam"]
    assert (week.category, week.weight, week.counted, week.grace_minutes) == ("Homework", 2, "last", 30)
    assert (category.name, category.weight, category.drop_lowest) == ("Homework", 60, 1)
    assert (exam.password_hash, exam.duration_minutes, exam.addresses) == (None, 90, "192.0.2.0/24")
    assert (own.problem, (own.visible_from - given["visible_from"]).days) in {("add_one", 146), ("add_one", 147)}
    [entry] = (await either.http.get("/api/v1/audit?limit=1", headers=either.bearer)).json()["entries"]
    assert (entry["action"], entry["detail"]) == ("course-copied", "JAX, autumn to JAX, spring")


async def test_the_page_shows_the_dates_before_it_copies(either, people):
    ada, _, tess = people
    old = await make(tess)
    page = f"/courses/{old['id']}/copy"
    first = (await tess.get(page)).text
    assert 'value="2027-10-18"' in first
    assert "Create the course" not in first
    shown = (await tess.get(f"{page}?name=JAX+%3C3&opens=2027-10-18")).text
    assert "Sun 31 Oct 2027, 23:59" in shown
    assert 'name="name" value="JAX &lt;3"' in shown
    made = await send_form(tess, f"{page}?name=x&opens=2027-10-18", page, name="JAX <3", opens="2027-10-18")
    assert made.status_code == 303
    assert "JAX &lt;3" in (await tess.get(made.headers["location"])).text
    late = {"name": "Last", "opens": "2026-10-19T00:00", "due": "2099-11-01T00:00", "problems": PROBLEMS}
    made = await tess.post(f"/api/v1/courses/{old['id']}/assignments", json=late, headers=JSON)
    assert made.status_code == 201, made.text
    for wrong, words in (("2027-02-30", "give a day"), ("2090-01-01", "before 2090"), ("2027-10-18", "due after 2099")):
        refused = await tess.get(f"{page}?name=x&opens={wrong}")
        assert (refused.status_code, words in refused.text) == (422, True), wrong
    unnamed = await send_form(tess, page, page, name="", opens="2027-10-18")
    assert (unnamed.status_code, 'role="alert"' in unnamed.text) == (422, True)
    assert (await ada.get(page)).status_code == 403


async def test_the_dates_of_sections_are_copied(either, people):
    tess = people[2]
    old = await make(tess)
    rows = "name,email,section\nAda,ada@example.org,B\nBob,bob@example.org,A\n"
    roster = {"csv": rows, "import": True}
    assert (await tess.post(f"/api/v1/courses/{old['id']}/roster", json=roster, headers=JSON)).status_code == 200
    [week, _] = (await tess.get(f"/api/v1/courses/{old['id']}/assignments")).json()["assignments"]
    sections = f"/api/v1/courses/{old['id']}/assignments/{week['id']}/sections"
    dates = [
        {"section": "B", "opens": "2026-10-20T00:00", "due": "2026-11-03T23:59"},
        {"section": "A", "opens": "2026-10-18T00:00", "due": "2026-11-02T23:59"},
    ]
    assert (await tess.put(sections, json={"sections": dates}, headers=JSON)).status_code == 204
    copy = f"/courses/{old['id']}/copy"
    first, second = (await tess.get(f"/api/v1{copy}?opens=2027-03-15")).json()["assignments"]
    assert first["sections"] == [
        {
            "name": "A",
            "opens": "2027-03-14T00:00",
            "due": "2027-03-29T23:59",
            "opens_now": "2026-10-18T00:00",
            "due_now": "2026-11-02T23:59",
        },
        {
            "name": "B",
            "opens": "2027-03-16T00:00",
            "due": "2027-03-30T23:59",
            "opens_now": "2026-10-20T00:00",
            "due_now": "2026-11-03T23:59",
        },
    ]
    assert second["sections"] == []
    page = (await tess.get(f"{copy}?name=x&opens=2027-03-15")).text
    assert "Mon 29 Mar 2027, 23:59" in page
    new = (await tess.post(f"/api/v1{copy}", json={"name": "x", "opens": "2027-03-15"}, headers=JSON)).json()
    [week, exam] = (await tess.get(f"/api/v1/courses/{new['id']}/assignments")).json()["assignments"]
    path = f"/api/v1/courses/{new['id']}/assignments"
    found = (await tess.get(f"{path}/{week['id']}/sections")).json()["sections"]
    assert [(each["section"], each["due_at"][:16]) for each in found] == [
        ("A", "2027-03-29T21:59"),
        ("B", "2027-03-30T21:59"),
    ]
    assert (await tess.get(f"{path}/{exam['id']}/sections")).json()["sections"] == []
    # Section B would be due in 2100.
    dates[0]["due"] = "2099-12-20T23:59"
    assert (await tess.put(sections, json={"sections": dates}, headers=JSON)).status_code == 204
    late = await tess.get(f"/api/v1{copy}?opens=2027-03-15")
    assert (late.status_code, "due after 2099" in late.text) == (422, True)


async def test_a_course_without_assignments_is_copied(either, people):
    tess = people[2]
    course = (await tess.post("/api/v1/courses", json={"name": "JAX", "time_zone": "UTC"}, headers=JSON)).json()
    path = f"/api/v1/courses/{course['id']}/copy"
    assert (await tess.get(f"{path}?opens=2027-03-15")).json() == {"assignments": []}
    answer = await tess.post(path, json={"name": "JAX", "opens": "2027-03-15"}, headers=JSON)
    assert answer.status_code == 201
