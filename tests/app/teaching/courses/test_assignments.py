"""Changing and withdrawing assignments: points follow at once, and the audit log says what changed."""

import re

import pytest

from tests.app.accounts.people import send_form
from tests.app.teaching.courses.test_courses import JSON, at, changes_in, create, join, people, rows_in
from tests.app.teaching.people.test_attempts_of_others import GOOD, send

pytestmark = pytest.mark.anyio
__all__ = ["people"]


async def only_assignment(tess, course: dict) -> dict:
    path = f"/api/v1/courses/{course['id']}/assignments"
    [found] = (await tess.get(path)).json()["assignments"]
    return found


async def total_of(tess, course: dict) -> float:
    [student] = (await tess.get(f"/api/v1/courses/{course['id']}/gradebook")).json()["students"]
    return student["total"]


async def test_a_change_counts_at_once_and_is_audited(either, people):
    ada, _, tess = people
    course = await create(tess)
    await join(ada, course)
    await send(either, ada, GOOD)
    assert await total_of(tess, course) == 50
    path = f"/courses/{course['id']}/assignments/{(await only_assignment(tess, course))['id']}/edit"
    page = (await tess.get(path)).text
    fields = dict(re.findall(r'<input id="(name|opens|due|late_percent)"[^>]* value="([^"]*)"', page))
    assert rows_in(page) == [("add_one", "50")]
    row = {"problem-1": "add_one", "points-1": "80"}
    changed = await send_form(tess, path, path, **fields, **row, reason="worth more")
    assert (changed.status_code, changed.headers["location"]) == (303, f"/courses/{course['id']}")
    assert await total_of(tess, course) == 80
    [entry] = await changes_in(either)
    assert (entry.action, entry.whom, entry.reason) == ("assignment-changed", None, "worth more")
    assert entry.detail == "Week 1 of JAX: problems add_one 50 to add_one 80"


async def test_what_stays_as_it_is_needs_no_entry(either, people):
    tess = people[2]
    course = await create(tess)
    path = f"/courses/{course['id']}/assignments/{(await only_assignment(tess, course))['id']}/edit"
    page = (await tess.get(path)).text
    fields = dict(re.findall(r'<input id="(name|opens|due|late_percent)"[^>]* value="([^"]*)"', page))
    assert (await send_form(tess, path, path, **fields, problems="add_one 50")).status_code == 303
    assert await changes_in(either) == []


async def test_an_untouched_time_that_occurs_twice_stays_the_moment_that_it_was(people):
    tess = people[2]
    body = {"name": "JAX", "time_zone": "Europe/Berlin"}
    course = (await tess.post("/api/v1/courses", json=body, headers=JSON)).json()
    new = {
        "name": "Night",
        "opens": "2026-10-25T02:30",
        "due": "2026-10-25T02:30",
        "problems": [{"problem": "add_one"}],
    }
    path = f"/api/v1/courses/{course['id']}/assignments"
    before = (await tess.post(path, json=new, headers=JSON)).json()
    assert (before["opens_at"][11:16], before["due_at"][11:16]) == ("00:30", "01:30")
    edit = f"/courses/{course['id']}/assignments/{before['id']}/edit"
    fields = {"name": "Late night", "opens": new["opens"], "due": new["due"], "problems": "add_one 100"}
    assert (await send_form(tess, edit, edit, **fields)).status_code == 303
    after = await only_assignment(tess, course)
    assert after | {"warnings": []} == before | {"name": "Late night"}


async def test_a_change_over_rest_replaces_every_field(either, people):
    ada, _, tess = people
    course = await create(tess)
    await join(ada, course)
    path = f"/api/v1/courses/{course['id']}/assignments/{(await only_assignment(tess, course))['id']}"
    body = {"name": "Week 2", "opens": at(days=-2), "due": at(days=2), "late_percent": 5, "reason": "ill"}
    body["problems"] = [{"problem": "add_one", "points": 10}]
    changed = await tess.put(path, json=body, headers=JSON)
    assert changed.status_code == 200, changed.text
    assert (changed.json()["name"], changed.json()["late_percent"]) == ("Week 2", 5)
    assert await only_assignment(tess, course) | {"warnings": []} == changed.json()
    for wrong, slug in (
        ({"due": at(days=-3)}, "assignment-invalid"),
        ({"problems": [{"problem": "no_such"}]}, "problem-not-found"),
        ({"reason": "a\nb"}, "field-invalid"),
    ):
        assert (await tess.put(path, json=body | wrong, headers=JSON)).json()["slug"] == slug
    assert (await ada.put(path, json=body, headers=JSON)).status_code == 403
    assert (await tess.put(path[:-32] + "0" * 32, json=body, headers=JSON)).json()["slug"] == "assignment-not-found"
    assert (await tess.delete(path, headers=JSON)).status_code == 204
    actions = [each.action for each in await changes_in(either)]
    assert actions == ["assignment-withdrawn", "assignment-changed"]


async def test_a_form_that_is_wrong_comes_back_with_what_was_typed(people):
    tess = people[2]
    course = await create(tess)
    path = f"/courses/{course['id']}/assignments/{(await only_assignment(tess, course))['id']}/edit"
    typed = {"name": "A <new> name", "opens": at(days=2), "due": at(days=1), "problems": "add_one 7"}
    answer = await send_form(tess, path, path, **typed)
    assert answer.status_code == 409
    for words in ("due: must be after opens", "A &lt;new&gt; name"):
        assert words in answer.text
    assert rows_in(answer.text) == [("add_one", "7")]
