"""A course is seen by those who teach it, and does not exist for other instructors."""

import pytest
from sqlalchemy import delete

from app.core.database import Database
from app.teaching.courses.models import StaffRow
from tests.app.accounts.people import browser, form_token, send_form, sign_in, sign_up
from tests.app.routes import INSTRUCT, OWNED, address
from tests.app.teaching.courses.test_courses import JSON, changes_in, create, join, people
from tests.app.teaching.people.test_attempts_of_others import GOOD, send

__all__ = ["people"]

pytestmark = pytest.mark.anyio
OF_COURSES = sorted(each for each in OWNED | INSTRUCT if "{course_id}" in each[1])


@pytest.fixture
async def tom(either):
    """The browser of another instructor."""
    async with browser(either) as http:
        await sign_up(either, http, "tom", "instructor")
        yield http


async def ask(http, method: str, path: str, course: dict, assignment: str, **more: str) -> int:
    named = path.replace("{course_id}", course["id"]).replace("{assignment_id}", assignment)
    is_api = path.startswith("/api/")
    fields: dict[str, object] = {} if is_api else {"form_token": form_token((await http.get("/account")).text)}
    body = {} if method in ("GET", "DELETE") else {"json": {}} if is_api else {"data": fields}
    return (await http.request(method, address(named, {"attempt_id": "0" * 32}), headers=JSON, **body)).status_code


async def test_no_route_of_a_course_is_open_to_instructors_of_another(either, people, tom):
    tess = people[2]
    course = await create(tess)
    [assignment] = (await tess.get(f"/api/v1/courses/{course['id']}/assignments")).json()["assignments"]
    for method, path in OF_COURSES:
        assert await ask(tom, method, path, course, assignment["id"]) == 404, (method, path)
    assert (await tess.get(f"/api/v1/courses/{course['id']}/assignments")).json()["assignments"] == [assignment]
    assert (await tess.get(f"/api/v1/courses/{course['id']}")).json()["archived_at"] is None


async def test_nothing_else_shows_a_course_of_others(either, people, tom):
    ada, bob, tess = people
    course = await create(tess)
    [assignment] = (await tess.get(f"/api/v1/courses/{course['id']}/assignments")).json()["assignments"]
    for each in (ada, bob):
        await join(each, course)
        await send(either, each, GOOD)
    of_course, body = f"?course={course['id']}", {"version": "0" * 64}
    version = (await tess.get("/api/v1/problems/add_one")).json()["version"]
    for http, status in ((tess, 200), (tom, 404)):
        assert (await http.get(f"/problems/add_one/similarity{of_course}")).status_code == status
        assert (await http.get(f"/problems/add_one/similarity.csv{of_course}")).status_code == status
        assert (await http.get(f"/api/v1/problems/add_one/similarity{of_course}")).status_code == status
        for scope in ({"course": course["id"]}, {"assignment": assignment["id"]}):
            body = {"version": version} | scope
            answer = await http.post("/api/v1/problems/add_one/rejudge/count", json=body, headers=JSON)
            assert answer.status_code == status, answer.text
        [kind, chosen] = next(iter(scope.items()))
        page = await http.get(f"/authoring/add_one/rejudge?scope={kind}:{chosen}")
        assert (page.status_code, "JAX: Week 1" in page.text) == (status, status == 200)
        for path in ("/courses", "/teach", "/search?q=jax"):
            assert (f"/courses/{course['id']}" in (await http.get(path)).text) == (status == 200), path
    assert (await tom.post("/api/v1/problems/add_one/rejudge", json=body, headers=JSON)).status_code == 404
    # The rights of the role stay.
    assert (await tom.get("/problems/add_one/similarity")).status_code == 200
    assert (await tom.get("/people?q=ada")).status_code == 200


async def test_owners_see_every_course_and_the_first_instructor_adds_others(either, people, tom):
    tess = people[2]
    course = await create(tess)
    await sign_in(either)
    path, page = f"/api/v1/courses/{course['id']}", f"/courses/{course['id']}"
    assert (await either.http.get(f"{path}/gradebook", headers=either.bearer)).status_code == 200
    staff = f"{path}/instructors"
    [first] = (await tess.get(staff)).json()["instructors"]
    assert first["name"] == "tess"
    for name, status in (("ada", 404), ("nobody", 404), ("tom", 201), ("tom", 201)):
        answer = await tess.post(staff, json={"person": name}, headers=JSON)
        assert answer.status_code == status, (name, answer.text)
    assert (await tom.get(page)).status_code == 200
    assert page in (await tom.get("/courses")).text
    settings = f"{page}/settings"
    left = await send_form(tess, settings, f"{page}/instructors/{first['id']}/remove")
    assert (left.status_code, left.headers["location"]) == (303, "/courses")
    assert (await tess.get(page)).status_code == 404
    [last] = (await tom.get(staff)).json()["instructors"]
    refused = await tom.delete(f"{staff}/{last['id']}", headers=JSON)
    assert (refused.status_code, refused.json()["slug"]) == (409, "last-instructor")
    assert (await tom.delete(f"{staff}/{first['id']}", headers=JSON)).status_code == 404
    again = await send_form(tom, settings, f"{page}/instructors", person="tess")
    assert (again.status_code, again.headers["location"]) == (303, settings)
    unknown = await send_form(tom, settings, f"{page}/instructors", person="ada")
    assert (unknown.status_code, "No instructor has the name" in unknown.text) == (404, True)
    assert [(each.action, each.whom.name) for each in await changes_in(either)] == [
        ("course-staff-added", "tess"),
        ("course-staff-removed", "tess"),
        ("course-staff-added", "tom"),
    ]


async def test_a_course_without_staff_is_open_to_all_instructors(either, people, tom):
    tess = people[2]
    course = await create(tess)
    async with either.services[Database].writing() as session:
        await session.execute(delete(StaffRow))
    page = f"/courses/{course['id']}"
    for http in (tess, tom):
        assert (await http.get(f"{page}/gradebook")).status_code == 200
        assert page in (await http.get("/courses")).text
    assert "all instructors see it" in (await tess.get(f"{page}/settings")).text
    await send_form(tess, f"{page}/settings", f"{page}/instructors", person="tom")
    assert ((await tess.get(page)).status_code, (await tom.get(page)).status_code) == (404, 200)


async def test_an_instructor_is_a_student_or_an_assistant_of_another_course(either, people, tom):
    tess = people[2]
    course = await create(tess)
    page, path = f"/courses/{course['id']}", f"/api/v1/courses/{course['id']}"
    assert (await join(tom, course))["join_code"] is None
    assert "New assignment" not in (await tom.get(page)).text
    assert (await tom.get(f"{page}/gradebook")).status_code == 403
    assert (await tom.delete(path, headers=JSON)).status_code == 403
    me = (await tom.get("/api/v1/me")).json()["id"]
    await tess.put(f"{path}/people/{me}/role", json={"role": "assistant"}, headers=JSON)
    assert (await tom.get(f"{page}/gradebook")).status_code == 200
    refused = await tom.put(f"{path}/archive", headers=JSON)
    assert (refused.status_code, refused.json()["slug"]) == (403, "role-missing")
    assert "Only the instructors of JAX can do this. You are an assistant of it." in refused.json()["detail"]
