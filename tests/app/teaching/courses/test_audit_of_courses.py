"""Each route that changes a course leaves an entry in the audit log, with the course."""

import pytest
from sqlalchemy import select

from app.accounts.audit.models import AuditRow
from app.core.clock import now
from app.core.database import Database
from app.core.ids import new_id
from app.teaching.courses.models import RosterLineRow
from app.teaching.lti.models import ContextRow, PlatformRow
from app.teaching.lti.platform_requests import PlatformRequests
from tests.app.accounts.people import browser, form_token, sign_up
from tests.app.course_routes import OF_COURSES
from tests.app.routes import OWN, OWNED
from tests.app.teaching.courses.test_courses import JSON, create, join
from tests.app.teaching.people.test_attempts_of_others import me

pytestmark = pytest.mark.anyio
CHANGING = {each for each in OF_COURSES | OWN | OWNED if "/courses" in each[1] and each[0] != "GET"}
# Nobody does anything to others.
NOT_RECORDED = {
    ("POST", "/courses/join"): "someone joins by themselves, and the page of the course says since when",
    ("POST", "/api/v1/courses/join"): "as on the page",
    ("POST", "/courses/{course_id}/assignments/{assignment_id}/start"): "a student's own start, stored with its time",
    ("POST", "/api/v1/courses/{course_id}/assignments/{assignment_id}/start"): "as on the page",
    ("POST", "/courses/{course_id}/lti/scores"): "sends scores again, and changes none",
}
WEEK = {"name": "Week 2", "opens": "2026-01-12T09:00", "due": "2026-01-19T23:59"}
WEEK_JSON = WEEK | {"problems": [{"problem": "add_one", "points": 50}]}
ROSTER = "name,email,section\nEve,eve@example.org,Monday\n"
DATES = {"section": "Monday", "opens": "2026-01-12T09:00", "due": "2026-01-19T23:59"}
A, R = "/courses/{course_id}", "/api/v1/courses/{course_id}"
W = "/assignments/{assignment_id}"
CELL = f"{W}/cells/{{slug}}/{{person_id}}"
BONUS = {"points": 5, "reason": "help"}
# What is sent, and the action that the entry has. A form is sent for a page, and JSON for REST.
RECORDED: dict[tuple[str, str], tuple[dict[str, object], str]] = {
    ("POST", "/courses"): ({"name": "JAX 2", "time_zone": "UTC"}, "course-created"),
    ("POST", "/api/v1/courses"): ({"name": "JAX 2", "time_zone": "UTC"}, "course-created"),
    ("POST", f"{A}/assignments"): (WEEK | {"problems": "add_one 50"}, "assignment-created"),
    ("POST", f"{R}/assignments"): (WEEK_JSON, "assignment-created"),
    ("POST", f"{A}{W}/edit"): (WEEK | {"problems": "add_one 50"}, "assignment-changed"),
    ("PUT", f"{R}{W}"): (WEEK_JSON, "assignment-changed"),
    ("POST", f"{A}{W}/withdraw"): ({}, "assignment-withdrawn"),
    ("DELETE", f"{R}{W}"): ({}, "assignment-withdrawn"),
    ("POST", f"{A}{W}/extend"): (
        {"person": "{person_id}", "extra_minutes": "5", "reason": "ill"},
        "assignment-extended",
    ),
    ("PUT", f"{R}{W}/extensions/{{person_id}}"): ({"extra_minutes": 5, "reason": "ill"}, "assignment-extended"),
    ("POST", f"{A}{W}/sections"): (
        {"section": "Monday", "opens": DATES["opens"], "due": DATES["due"]},
        "assignment-changed",
    ),
    ("PUT", f"{R}{W}/sections"): ({"sections": [DATES]}, "assignment-changed"),
    ("POST", f"{A}{CELL}"): ({"kind": "bonus", "points": "5", "reason": "help"}, "cell-changed"),
    ("PUT", f"{R}{CELL}"): ({"bonus": BONUS}, "cell-changed"),
    ("DELETE", f"{R}{CELL}"): ({}, "cell-changed"),
    ("POST", f"{A}/settings"): ({"name": "JAX 2", "time_zone": "UTC"}, "course-changed"),
    ("PUT", R): ({"name": "JAX 2", "time_zone": "UTC"}, "course-changed"),
    ("POST", f"{A}/join-code"): ({}, "course-changed"),
    ("POST", f"{R}/join-code"): ({}, "course-changed"),
    ("POST", f"{A}/copy"): ({"name": "JAX 2", "opens": "2027-02-01"}, "course-copied"),
    ("POST", f"{R}/copy"): ({"name": "JAX 2", "opens": "2027-02-01"}, "course-copied"),
    ("POST", f"{A}/archive"): ({}, "course-archived"),
    ("PUT", f"{R}/archive"): ({}, "course-archived"),
    ("POST", f"{A}/archive/undo"): ({}, "course-opened-again"),
    ("DELETE", f"{R}/archive"): ({}, "course-opened-again"),
    ("POST", f"{A}/delete"): ({}, "course-deleted"),
    ("DELETE", R): ({}, "course-deleted"),
    ("POST", f"{A}/instructors"): ({"person": "tim"}, "course-staff-added"),
    ("POST", f"{R}/instructors"): ({"person": "tim"}, "course-staff-added"),
    ("POST", f"{A}/instructors/{{staff_id}}/remove"): ({}, "course-staff-removed"),
    ("DELETE", f"{R}/instructors/{{staff_id}}"): ({}, "course-staff-removed"),
    ("POST", f"{A}/people/{{person_id}}/remove"): ({}, "course-member-removed"),
    ("DELETE", f"{R}/people/{{person_id}}"): ({}, "course-member-removed"),
    ("POST", f"{A}/people/{{other_id}}/add"): ({}, "course-member-added"),
    ("PUT", f"{R}/people/{{other_id}}"): ({}, "course-member-added"),
    ("POST", f"{A}/people/{{person_id}}/role"): ({"role": "assistant"}, "course-role-changed"),
    ("PUT", f"{R}/people/{{person_id}}/role"): ({"role": "assistant"}, "course-role-changed"),
    ("POST", f"{A}/people/{{person_id}}/rights"): ({"rights-extensions": "on"}, "course-rights-changed"),
    ("PUT", f"{R}/people/{{person_id}}/rights"): ({"rights": ["extensions"]}, "course-rights-changed"),
    ("POST", f"{A}/announcements"): ({"text": "Hello"}, "announced"),
    ("POST", f"{R}/announcements"): ({"text": "Hello"}, "announced"),
    ("POST", f"{A}/announcements/{{announcement_id}}/remove"): ({}, "announcement-removed"),
    ("DELETE", f"{R}/announcements/{{announcement_id}}"): ({}, "announcement-removed"),
    ("POST", f"{A}/problems"): ({"problem": "add_one"}, "problem-given"),
    ("POST", f"{R}/problems"): ({"problem": "add_one"}, "problem-given"),
    ("POST", f"{A}/problems/{{slug}}/remove"): ({}, "problem-taken-back"),
    ("DELETE", f"{R}/problems/{{slug}}"): ({}, "problem-taken-back"),
    ("POST", f"{A}/roster"): ({"csv": "name\nIda\n", "step": "import"}, "roster-imported"),
    ("POST", f"{R}/roster"): ({"csv": "name\nIda\n", "import": True}, "roster-imported"),
    ("POST", f"{A}/roster/{{line_id}}/remove"): ({}, "roster-line-removed"),
    ("DELETE", f"{R}/roster/{{line_id}}"): ({}, "roster-line-removed"),
    ("POST", f"{A}/invitations/mails"): ({}, "invitations-mailed"),
    ("POST", f"{R}/invitations/mails"): ({}, "invitations-mailed"),
    ("POST", f"{A}/categories"): ({"categories": "Homework: 40"}, "categories-changed"),
    ("PUT", f"{R}/categories"): ({"categories": [{"name": "Homework", "weight": 40}]}, "categories-changed"),
    ("POST", f"{A}/lti/{{free_id}}/connect"): ({}, "lti-course-connected"),
    ("POST", f"{A}/lti/{{context_id}}/disconnect"): ({}, "lti-course-disconnected"),
    ("POST", f"{A}/lti/{{context_id}}/roster"): ({}, "lti-roster"),
}
# The ids in a path whose names say more than those of the route.
_PLAIN = {"{staff_id}": "{person_id}", "{other_id}": "{person_id}", "{free_id}": "{context_id}"}


def plain(path: str) -> str:
    for special, name in _PLAIN.items():
        path = path.replace(special, name)
    return path


@pytest.fixture
async def service(start_service):
    # Nobody receives what is mailed.
    async with start_service(smtp_url="smtp://127.0.0.1:9", smtp_sender="jax@example.org") as started:
        yield started


async def one_of_each(service, tess, ada, method: str, path: str) -> dict[str, str]:
    """A course with one of each, and their ids. It is empty, or archived, if the route needs that."""
    course = await create(tess)
    here, where = f"/api/v1/courses/{course['id']}", {"course_id": course["id"], "slug": "add_one"}
    if path.endswith("/delete") or (method, path) == ("DELETE", R):
        [week] = (await tess.get(f"{here}/assignments")).json()["assignments"]
        await tess.delete(f"{here}/assignments/{week['id']}", headers=JSON)
        return where | {"staff_id": "", "free_id": ""}
    await join(ada, course)
    await tess.post(f"{here}/roster", json={"csv": ROSTER, "import": True}, headers=JSON)
    await tess.post(f"{here}/instructors", json={"person": "tom"}, headers=JSON)
    said = await tess.post(f"{here}/announcements", json={"text": "x"}, headers=JSON)
    if "/problems/" in path:
        await tess.post(f"{here}/problems", json={"problem": "add_one"}, headers=JSON)
    [week] = (await tess.get(f"{here}/assignments")).json()["assignments"]
    if "/cells/" in path and method == "DELETE":
        cell = f"{here}/assignments/{week['id']}/cells/add_one/{await me(ada)}"
        await tess.put(cell, json={"excused": {"reason": "ill"}}, headers=JSON)
    if path.endswith("/rights"):
        await tess.put(f"{here}/people/{await me(ada)}/role", json={"role": "assistant"}, headers=JSON)
    if "/archive/undo" in path or (method, path) == ("DELETE", f"{R}/archive"):
        await tess.put(f"{here}/archive", headers=JSON)
    return where | {
        "assignment_id": week["id"],
        "announcement_id": said.json()["id"],
        "person_id": await me(ada),
        **await stored(service, course["id"]),
    }


async def stored(service, course_id: str) -> dict[str, str]:
    """The line of the roster, and two courses of a learning platform, one of them connected."""
    moment, platform = now(), new_id()
    urls = dict.fromkeys(("login_url", "token_url", "keys_url"), "https://platform.example")
    row = PlatformRow(
        id=platform,
        name="Platform",
        issuer=platform,
        client_id="x",
        deployments="1",
        grants_instructor=False,
        created_at=moment,
        **urls,
    )
    contexts = [
        ContextRow(id=new_id(), platform_id=platform, context=str(each), title="There", members_url="https://x.example")
        for each in range(2)
    ]
    contexts[0].course_id = course_id
    async with service.services[Database].writing() as session:
        session.add(row)
        await session.flush()
        session.add_all(contexts)
        line = await session.scalar(select(RosterLineRow.id).where(RosterLineRow.course_id == course_id))
    return {"line_id": line, "context_id": contexts[0].id, "free_id": contexts[1].id}


async def entries(service) -> dict[str, AuditRow]:
    async with service.services[Database].reading() as session:
        return {each.id: each for each in await session.scalars(select(AuditRow))}


def test_every_route_that_changes_a_course_is_listed():
    listed = {(method, plain(path)) for method, path in RECORDED}
    assert not listed & NOT_RECORDED.keys()
    assert listed | NOT_RECORDED.keys() == CHANGING


async def test_every_change_of_a_course_is_in_the_audit_log(service, monkeypatch):
    async def members(self, platform, url):
        return [{"user_id": "s-1", "name": "Sue", "roles": ["Learner"]}]

    monkeypatch.setattr(PlatformRequests, "members", members)
    async with browser(service) as tess, browser(service) as tom, browser(service) as tim, browser(service) as ada:
        for http, name in ((tess, "tess"), (tom, "tom"), (tim, "tim")):
            await sign_up(service, http, name, "instructor")
        await sign_up(service, ada, "ada")
        async with browser(service) as bob:
            await sign_up(service, bob, "bob")
            ids = {"staff_id": await me(tom), "other_id": await me(bob)}
        token, teacher = form_token((await tess.get("/account")).text), await me(tess)
        for (method, path), (fields, action) in RECORDED.items():
            where = ids | await one_of_each(service, tess, ada, method, path)
            body = {name: each.format(**where) if isinstance(each, str) else each for name, each in fields.items()}
            sent = {"json": body} if path.startswith("/api/") else {"data": body | {"form_token": token}}
            before = await entries(service)
            answer = await tess.request(method, path.format(**where), headers=JSON, **sent)
            assert answer.status_code < 400, (method, path, answer.text)
            new = [each for key, each in (await entries(service)).items() if key not in before]
            of_course = where["course_id"] if "{course_id}" in path else new[0].course_id
            assert [(each.action, each.user_id) for each in new] == [(action, teacher)], (method, path)
            assert (new[0].course_id, bool(of_course)) == (of_course, True), (method, path)


async def test_what_changes_nothing_in_a_course_leaves_no_entry(service):
    async with browser(service) as tess, browser(service) as ada:
        await sign_up(service, tess, "tess", "instructor")
        await sign_up(service, ada, "ada")
        here = f"/api/v1/courses/{(course := await create(tess))['id']}/people/{await me(ada)}"
        await join(ada, course)
        before = await entries(service)
        assert (await tess.put(here, headers=JSON)).status_code == 204
        assert (await tess.put(f"{here}/role", json={"role": "student"}, headers=JSON)).status_code == 204
        assert (await entries(service)).keys() == before.keys()
