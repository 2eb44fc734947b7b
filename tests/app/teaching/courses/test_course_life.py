"""What happens to a course after it was created: another name, another code, its archive and its end."""

import re

import pytest

from tests.app.accounts.people import send_form
from tests.app.teaching.courses.test_courses import JSON, changes_in, create, join, people
from tests.app.teaching.people.test_attempts_of_others import GOOD, send

__all__ = ["people"]

pytestmark = pytest.mark.anyio


async def audited(either) -> list[tuple[str, str]]:
    return [(each.action, each.detail) for each in await changes_in(either)]


async def submit(http) -> tuple[int, str]:
    answer = await http.post("/api/v1/problems/add_one/attempts", json={"source": GOOD}, headers=JSON)
    return answer.status_code, answer.json().get("slug", "")


async def test_name_zone_and_code_of_a_course_change(either, people):
    ada, _, tess = people
    course = await create(tess)
    path = f"/api/v1/courses/{course['id']}"
    assigned = (await tess.get(f"{path}/assignments")).json()
    changed = await tess.put(path, json={"name": "JAX, spring", "time_zone": "Asia/Tokyo"}, headers=JSON)
    assert (changed.status_code, changed.json()["name"], changed.json()["time_zone"]) == (
        *(200, "JAX, spring"),
        "Asia/Tokyo",
    )
    assert (await tess.get(f"{path}/assignments")).json() == assigned
    assert (await tess.put(path, json={"name": "JAX, spring", "time_zone": "Asia/Tokyo"}, headers=JSON)).is_success
    assert (await tess.put(path, json={"name": "J", "time_zone": "Mars/Olympus"}, headers=JSON)).status_code == 404
    assert (await ada.put(path, json={"name": "J", "time_zone": "UTC"}, headers=JSON)).status_code == 403
    code = (await tess.post(f"{path}/join-code", headers=JSON)).json()["join_code"]
    assert code != course["join_code"]
    assert (await ada.post("/api/v1/courses/join", json={"code": course["join_code"]}, headers=JSON)).status_code == 404
    assert (await join(ada, {"join_code": code}))["join_code"] is None
    assert (await ada.get(path)).json()["name"] == "JAX, spring"
    assert await audited(either) == [
        ("course-changed", "JAX, spring: a new join code"),
        ("course-changed", "JAX: name JAX to JAX, spring; time_zone UTC to Asia/Tokyo"),
    ]


async def test_the_settings_of_a_course_in_a_browser(either, people):
    ada, _, tess = people
    page = f"/courses/{(await create(tess))['id']}"
    settings = f"{page}/settings"
    assert f'href="{settings}"' in (await tess.get(page)).text
    refused = await send_form(tess, settings, settings, name="x" * 101, time_zone="Asia/Tokyo")
    assert (refused.status_code, "x" * 101 in refused.text) == (422, True)
    saved = await send_form(tess, settings, settings, name="JAX <2>", time_zone="Asia/Tokyo")
    assert (saved.status_code, saved.headers["location"]) == (303, settings)
    assert "JAX &lt;2&gt;" in (await tess.get(settings)).text
    code = re.search(r"join with <code>(\w+)<", (await tess.get(settings)).text)[1]
    await send_form(tess, settings, f"{settings.removesuffix('/settings')}/join-code")
    assert code not in (await tess.get(settings)).text
    refused = await send_form(tess, settings, f"{page}/delete")
    assert (refused.status_code, "has assignments" in refused.text) == (409, True)
    assert (await ada.get(settings)).status_code == 403


async def test_an_archived_course_takes_nothing_and_shows_its_points(either, people):
    ada, bob, tess = people
    course = await create(tess)
    page, path = f"/courses/{course['id']}", f"/api/v1/courses/{course['id']}"
    await join(ada, course)
    await send(either, ada, GOOD)
    await send_form(tess, f"{page}/settings", f"{page}/archive")
    assert await submit(ada) == (403, "course-archived")
    # It counts nowhere else, so somebody outside the course may practise.
    assert (await submit(bob))[0] == 202
    refused = await bob.post("/api/v1/courses/join", json={"code": course["join_code"]}, headers=JSON)
    assert (refused.status_code, refused.json()["slug"]) == (403, "course-archived")
    assert (await join(ada, course))["id"] == course["id"]
    shown = (await ada.get(page)).text
    assert "50 of 50 points" in shown
    assert "This course is archived" in shown
    assert (await tess.get(f"{path}/gradebook")).json()["students"][0]["total"] == 50
    for http in (ada, tess):
        assert (await http.get("/api/v1/courses")).json()["courses"] == []
        [found] = (await http.get("/api/v1/courses?archived=true")).json()["courses"]
        assert found["archived_at"]
        assert page not in (await http.get("/courses")).text
        assert page in (await http.get("/courses?archived=yes")).text
    assert (await tess.put(f"{path}/archive", headers=JSON)).status_code == 200
    again = await tess.delete(f"{path}/archive", headers=JSON)
    assert (again.status_code, again.json()["archived_at"]) == (200, None)
    assert (await submit(ada))[0] == 202
    assert [action for action, _ in await audited(either)] == ["course-opened-again", "course-archived"]


async def test_what_is_sent_for_a_course_that_runs_does_not_count_in_an_archived_one(either, people):
    ada, _, tess = people
    old, new = await create(tess), await create(tess)
    await join(ada, old)
    await join(ada, new)
    await tess.put(f"/api/v1/courses/{old['id']}/archive", headers=JSON)
    await send(either, ada, GOOD)
    student = (await ada.get("/api/v1/me")).json()["id"]
    for course, points in ((old, None), (new, 50)):
        path = f"/api/v1/courses/{course['id']}"
        [line] = (await tess.get(f"{path}/gradebook")).json()["students"]
        assert line["cells"][0]["points"] == points
        [assignment] = (await tess.get(f"{path}/assignments")).json()["assignments"]
        cell = (await tess.get(f"{path}/assignments/{assignment['id']}/cells/add_one/{student}")).json()
        assert (cell["points"], len(cell["attempts"])) == (points, int(points is not None))


async def test_only_an_empty_course_is_deleted(either, people):
    ada, _, tess = people
    course = (await tess.post("/api/v1/courses", json={"name": "JAX", "time_zone": "UTC"}, headers=JSON)).json()
    path = f"/api/v1/courses/{course['id']}"
    me = (await join(ada, course)) and (await ada.get("/api/v1/me")).json()["id"]
    refused = await tess.delete(path, headers=JSON)
    assert (refused.status_code, refused.json()["detail"]) == (
        409,
        "JAX has people. Archive the course instead, or remove them first.",
    )
    await tess.delete(f"{path}/people/{me}", headers=JSON)
    assert (await tess.delete(path, headers=JSON)).status_code == 204
    assert (await tess.get(path)).status_code == 404
    assert (await audited(either))[0] == ("course-deleted", "JAX")
