"""Long lists of courses, and of what courses have, are searched and read page by page."""

import re
from datetime import timedelta
from typing import Any

import pytest

from app.accounts.models import UserRow
from app.core.clock import now
from app.core.database import Database
from app.core.ids import new_id
from app.teaching.courses.models import (
    AnnouncementRow,
    AssignmentProblemRow,
    AssignmentRow,
    CourseRow,
    ExtensionRow,
    MemberRow,
    StaffRow,
)
from tests.app.accounts.people import SITE, browser, sign_up

pytestmark = pytest.mark.anyio
JSON = SITE | {"Accept": "application/json"}


@pytest.fixture
async def tess(either):
    async with browser(either) as tess:
        await sign_up(either, tess, "tess", "instructor")
        yield tess


async def add(service, *rows: Any) -> None:
    async with service.services[Database].writing() as session:
        for each in rows:
            session.add(each)
            await session.flush()


async def whole(http, path: str, part: str, cursor: str, **narrowing: object) -> list[dict]:
    """The list as REST sends it, page by page."""
    found: list[dict] = []
    following = {}
    while True:
        answer = (await http.get(path, params=narrowing | following, headers=JSON)).json()
        found += answer[part]
        if answer["next"] is None:
            return found
        following = {cursor: answer["next"]}


def further(page: str) -> str | None:
    link = re.search(r'href="([^"]+)">Next page', page)
    return link and link[1].replace("&amp;", "&")


async def add_courses(service, http, number: int) -> None:
    person = (await http.get("/api/v1/me")).json()["id"]
    for place in range(number):
        made = now() - timedelta(minutes=place)
        name = f"Spring {place:02}" if place % 2 else f"ÄRZTE {place:02}"
        archived = made if place % 10 == 9 else None
        course = CourseRow(
            id=new_id(), name=name, time_zone="UTC", join_code=f"code{place}", created_at=made, archived_at=archived
        )
        staff = StaffRow(course_id=course.id, user_id=person, role="instructor", added_at=made)
        await add(service, course, staff)


async def test_courses(either, tess):
    await add_courses(either, tess, 120)
    courses = await whole(tess, "/api/v1/courses", "courses", "before")
    places = [int(each["name"].split()[1]) for each in courses]
    assert places == [place for place in range(120) if place % 10 != 9]
    assert (await tess.get("/api/v1/courses")).json()["next"] == courses[99]["id"]
    small = await whole(tess, "/api/v1/courses", "courses", "before", limit=7, archived=True)
    assert [each["name"] for each in small] == [f"Spring {place:02}" for place in range(9, 120, 10)]
    found = await whole(tess, "/api/v1/courses", "courses", "before", q="spring 1")
    assert {each["name"] for each in found} >= {"Spring 11", "Spring 101"}
    assert all("Spring 1" in each["name"] for each in found)

    page = (await tess.get("/courses")).text
    assert "ÄRZTE 00" in page
    assert "Spring 59" not in page
    second = (await tess.get(further(page))).text
    assert "ÄRZTE 56" in second
    assert "First page" in second
    found = (await tess.get("/courses", params={"q": "ÄRZTE 2"})).text
    assert "ÄRZTE 20" in found
    assert "Spring 21" not in found
    archived = (await tess.get("/courses", params={"archived": "yes", "q": "nothing"})).text
    assert "No course matches" in archived
    assert 'href="/courses?archived=yes">Clear the filter' in archived
    assert (await tess.get("/courses", params={"before": new_id()})).status_code == 404


async def test_a_short_list_of_courses_has_no_search(either, tess):
    await add_courses(either, tess, 3)
    page = (await tess.get("/courses")).text
    assert 'type="search"' not in page
    assert "Next page" not in page


@pytest.fixture
async def course(tess) -> dict:
    return (await tess.post("/api/v1/courses", json={"name": "JAX", "time_zone": "UTC"}, headers=JSON)).json()


def assignment(course: dict, place: int) -> AssignmentRow:
    due_at = now() + timedelta(days=1, minutes=place)
    return AssignmentRow(
        id=new_id(), course_id=course["id"], name=f"Week {place}", opens_at=now() - timedelta(days=1), due_at=due_at
    )


async def test_assignments(either, tess, course):
    rows = [assignment(course, place) for place in range(55)]
    within = [AssignmentProblemRow(assignment_id=each.id, position=0, problem="add_one", points=1) for each in rows]
    within[7].problem = "fsdp_step"
    await add(either, *rows, *within)
    path = f"/api/v1/courses/{course['id']}/assignments"
    assert [each["name"] for each in await whole(tess, path, "assignments", "after", limit=20)] == [
        f"Week {place}" for place in range(55)
    ]
    assert [each["name"] for each in await whole(tess, path, "assignments", "after", q="FSDP")] == ["Week 7"]
    unknown = await tess.get(path, params={"after": new_id()}, headers=JSON)
    assert (unknown.status_code, unknown.json()["slug"]) == (404, "assignment-not-found")

    page = (await tess.get(f"/courses/{course['id']}")).text
    assert "Week 49</h2>" in page
    assert "Week 50</h2>" not in page
    assert "Week 54</h2>" in (await tess.get(further(page))).text
    found = (await tess.get(f"/courses/{course['id']}", params={"q": "fsdp"})).text
    assert re.findall(r"Week \d+</h2>", found) == ["Week 7</h2>"]
    nothing = (await tess.get(f"/courses/{course['id']}", params={"q": "nothing"})).text
    assert "No assignment matches" in nothing


async def test_announcements(either, tess, course):
    rows = [
        AnnouncementRow(
            id=new_id(),
            course_id=course["id"],
            text=f"The room is H{place}.",
            created_at=now() - timedelta(minutes=place),
        )
        for place in range(60)
    ]
    await add(either, *rows)
    path = f"/api/v1/courses/{course['id']}/announcements"
    texts = [each["text"] for each in await whole(tess, path, "announcements", "before", limit=25)]
    assert texts == [f"The room is H{place}." for place in range(60)]
    assert [each["text"] for each in await whole(tess, path, "announcements", "before", q="h59")] == [texts[59]]

    page = (await tess.get(f"/courses/{course['id']}")).text
    assert re.findall(r"The room is (H\d+)", page) == ["H0", "H1", "H2", "H3", "H4"]
    every = (await tess.get(re.search(r'href="([^"]+)">All announcements', page)[1])).text
    assert len(re.findall(r"The room is (H\d+)", every)) == 50
    assert "The room is H59." in (await tess.get(further(every))).text
    found = (await tess.get(f"/courses/{course['id']}/announcements", params={"q": "H59"})).text
    assert re.findall(r"The room is (H\d+)", found) == ["H59"]
    answer = await tess.get(path, params={"before": new_id()}, headers=JSON)
    assert (answer.status_code, answer.json()["slug"]) == (404, "announcement-not-found")


async def test_extensions(either, tess, course):
    row = assignment(course, 0)
    people = [
        UserRow(id=new_id(), name=f"student{place:03}", role="student", created_at=now(), in_rankings=True)
        for place in range(60)
    ]
    await add(either, row, AssignmentProblemRow(assignment_id=row.id, position=0, problem="add_one", points=1), *people)
    for each in people:
        member = MemberRow(course_id=course["id"], user_id=each.id, role="student", joined_at=now())
        extra = ExtensionRow(
            assignment_id=row.id, user_id=each.id, extra_minutes=30, extra_attempts=0, reason="a faster room"
        )
        await add(either, member, extra)
    path = f"/api/v1/courses/{course['id']}/assignments/{row.id}/extensions"
    names = [each["name"] for each in await whole(tess, path, "extensions", "after", limit=25)]
    assert names == [each.name for each in people]
    assert [each["name"] for each in await whole(tess, path, "extensions", "after", q="NT059")] == ["student059"]

    here = f"/courses/{course['id']}/assignments/{row.id}/extensions"
    page = (await tess.get(here)).text
    assert page.count("a faster room") == 50
    assert (await tess.get(further(page))).text.count("a faster room") == 10
    assert (await tess.get(here, params={"q": "student059"})).text.count("a faster room") == 1
    assert "No extension matches." in (await tess.get(here, params={"q": "nobody"})).text


async def test_the_audit_log_of_a_course(either, tess, course):
    other = (await tess.post("/api/v1/courses", json={"name": "Other", "time_zone": "UTC"}, headers=JSON)).json()
    for place in range(60):
        await tess.post(f"/api/v1/courses/{course['id']}/announcements", json={"text": f"Room {place}"}, headers=JSON)
    await tess.put(f"/api/v1/courses/{other['id']}", json={"name": "Other course", "time_zone": "UTC"}, headers=JSON)
    path = f"/api/v1/courses/{course['id']}/audit"
    entries = await whole(tess, path, "entries", "before", limit=25)
    # The oldest is that the course was created.
    assert [each["detail"] for each in entries] == [*(f"JAX: Room {place}" for place in reversed(range(60))), "JAX"]
    assert [each["detail"] for each in await whole(tess, path, "entries", "before", q="room 7")] == ["JAX: Room 7"]
    assert len(await whole(tess, path, "entries", "before", q="Posted an announcement", limit=100)) == 60
    assert await whole(tess, path, "entries", "before", q="archived") == []

    page = (await tess.get(f"/courses/{course['id']}/audit")).text
    assert "JAX: Room 59" in page
    assert "JAX: Room 9<" not in page
    assert "JAX: Room 9<" in (await tess.get(further(page))).text
    assert "No entry matches" in (await tess.get(f"/courses/{course['id']}/audit", params={"q": "archived"})).text
    async with browser(either) as tom:
        await sign_up(either, tom, "tom", "instructor")
        assert (await tom.get(path, headers=JSON)).status_code == 404
        assert (await tom.get(f"/courses/{course['id']}/audit")).status_code == 404
