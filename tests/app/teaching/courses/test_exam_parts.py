"""What an exam closes is chosen when it is made: which parts of its problems, and for whom."""

import re

import pytest

from tests.app.accounts.people import browser, send_form
from tests.app.teaching.courses.test_assignments import only_assignment
from tests.app.teaching.courses.test_courses import JSON, at, changes_in, create, join, people
from tests.app.teaching.courses.test_open_exams import HTML, PAGE, REST, end, give_up, reads
from tests.app.teaching.people.test_attempts_of_others import GOOD, me, send

pytestmark = pytest.mark.anyio
__all__ = ["people"]
INPUT = {"name": "a", "dtype": "float32", "shape": [8], "spec": ["x"]}
FUNCTION = {"name": "f", "mesh": {"x": 2}, "inputs": [INPUT]}


async def test_an_exam_closes_only_what_it_names(either, people):
    ada, _, tess = people
    course = await create(tess, exam=True, closes=["hints"])
    await join(ada, course)
    seen = await reads(ada)
    assert (seen["hints over REST"], seen["hints on the page"]) == (False, False)
    assert (await give_up(ada)).status_code == 200
    assert (await reads(ada))["editorial over REST"]
    refused = (await ada.get(f"{REST}/hints")).json()
    assert refused["detail"].endswith("Until the exam has closed for everyone, this is closed to you: hints.")
    assert (await only_assignment(tess, course))["closes"] == ["hints"]


async def test_an_exam_closes_for_everyone_but_its_staff(either, people):
    ada, bob, tess = people
    course = await create(tess, exam=True, closed_for="everyone")
    await join(ada, course)
    async with browser(either) as nobody:
        assert (await nobody.get(f"{REST}/hints")).status_code == 403
        assert 'id="hints"' not in (await nobody.get(PAGE, headers=HTML)).text
        assert not any((await reads(bob)).values())
        refused = await give_up(bob)
        assert (refused.status_code, refused.json()["slug"]) == (403, "exam-open")
        assert "is part of an exam that is open now" in refused.json()["detail"]
        assert (await reads(tess))["hints on the page"]
        # An assistant of the course is staff, too.
        await join(bob, course)
        role = f"/api/v1/courses/{course['id']}/people/{await me(bob)}/role"
        assert (await tess.put(role, json={"role": "assistant"}, headers=JSON)).status_code == 204
        assert (await reads(bob))["hints over REST"]
        await end(either)
        assert (await nobody.get(f"{REST}/hints")).status_code == 200


async def test_what_others_share_is_closed_with_the_solutions(either, people):
    ada, bob, tess = people
    attempt = await send(either, bob, GOOD)
    shared = await send_form(bob, f"/attempts/{attempt}", f"/attempts/{attempt}/share")
    link = re.search(r"/shared/[\w-]+", shared.text)[0]
    assert (await ada.get(link, headers=HTML)).status_code == 200
    course = await create(tess, exam=True)
    await join(ada, course)
    closed = await ada.get(link, headers=HTML)
    assert (closed.status_code, "return x + 1" in closed.text) == (403, False)
    assert (await tess.get(link, headers=HTML)).status_code == 200
    await end(either)
    assert (await ada.get(link, headers=HTML)).status_code == 200


async def test_the_explorer_closes_to_students_altogether_and_to_others_for_the_problem(either, people):
    ada, bob, tess = people
    course = await create(tess, exam=True, closes=["explorer"], closed_for="everyone")
    await join(ada, course)
    body = {"source": "def f(a):\n    return a\n", "function": FUNCTION}
    assert (await ada.post("/api/v1/explorations", json=body, headers=JSON)).json()["slug"] == "exam-open"
    assert (await ada.get("/explore", headers=HTML)).status_code == 403
    assert (await bob.get("/explore", headers=HTML)).status_code == 200
    assert (await bob.get("/explore?problem=add_one", headers=HTML)).status_code == 403
    assert (await reads(ada))["hints over REST"]
    await end(either)
    assert (await ada.get("/explore", headers=HTML)).status_code == 200


async def test_the_form_says_and_stores_what_is_closed(either, people):
    _, _, tess = people
    course = await create(tess)
    path = f"/courses/{course['id']}"
    form = (await tess.get(path, headers=HTML)).text
    assert re.search(r'name="closes-hints" checked', form)
    assert not re.search(r'name="closes-explorer" checked', form)
    fields = {"name": "Exam", "opens": at(days=-1), "due": at(hours=2), "problems": "add_one 100", "exam": "on"}
    fields |= {"closes": ""}
    chosen = {"closes-explorer": "on", "closed_for": "everyone"}
    made = await send_form(tess, path, f"{path}/assignments", **fields, **chosen)
    assert made.status_code == 303
    page = (await tess.get(path, headers=HTML)).text
    assert "Closed to every account and visitor: Explorer." in page
    [exam] = [
        each for each in (await tess.get(f"/api/v1{path}/assignments")).json()["assignments"] if each["name"] == "Exam"
    ]
    assert (exam["closes"], exam["closed_for"]) == (["explorer"], "everyone")
    edit = f"{path}/assignments/{exam['id']}/edit"
    changed = await send_form(tess, edit, edit, **fields, **{"closes-hints": "on"})
    assert changed.status_code == 303
    [entry] = await changes_in(either)
    assert entry.detail.endswith("closes explorer to hints; closed_for everyone to students")
