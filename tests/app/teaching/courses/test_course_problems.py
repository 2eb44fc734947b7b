"""A problem, or a version of one, that only one course sees: for anyone else it does not exist."""

import re

import pytest

from tests.app.accounts.people import browser, send_form, sign_up
from tests.app.authoring.zips import upload
from tests.app.conftest import FILES
from tests.app.teaching.courses.exam_problem import (
    ALL_OPEN,
    MARKS,
    SLUG,
    SOLUTION,
    SOLVED,
    TASK,
    give,
    marks_seen,
    solve,
    together,
)
from tests.app.teaching.courses.test_courses import JSON, at, changes_in, create, join, people
from tests.app.teaching.courses.test_open_exams import HTML
from tests.app.teaching.people.test_attempts_of_others import GOOD, me, send

pytestmark = pytest.mark.anyio
__all__ = ["people"]
PAGE, REST = f"/problems/{SLUG}", f"/api/v1/problems/{SLUG}"


def course_path(course: dict) -> str:
    return f"/api/v1/courses/{course['id']}/problems"


async def test_only_the_course_sees_it_from_its_time_on(either, people):
    ada, bob, tess = people
    course = await create(tess)
    await join(ada, course)
    await give(either, tess, course, visible_from=at(days=1))
    async with browser(either) as nobody:
        unknown = (await nobody.get(REST.replace(SLUG, "secret_sun"))).json()
        for http in (ada, bob, nobody):
            answer = await http.get(REST)
            assert (answer.status_code, answer.json()["slug"]) == (404, "problem-not-found")
            assert answer.json().keys() == unknown.keys()
            assert not together(await marks_seen(either, http))
        assert "statement" in together(await marks_seen(either, tess))
        await give(either, tess, course, visible_from=at(days=-1))
        assert together(await marks_seen(either, ada)) == ALL_OPEN
        for http in (bob, nobody):
            assert not together(await marks_seen(either, http))
    listed = (await ada.get("/api/v1/problems", headers=JSON)).json()
    assert listed["tracks"][-1] == {
        "id": "only-in-your-courses",
        "title": "Only in your courses",
        "teaches": "",
        "problems": [SLUG],
    }
    assert MARKS["title"] in (await ada.get("/problems", headers=HTML)).text
    attempt = await solve(either, ada)
    assert (await ada.get(f"/api/v1/attempts/{attempt}")).json()["verdict"]["status"] == "accepted"
    assert together(await marks_seen(either, ada)) == SOLVED
    refused = await bob.post(f"{REST}/attempts", json={"source": SOLUTION}, headers=JSON)
    assert refused.json()["slug"] == "problem-not-found"
    # A link to the attempt leads nowhere for someone who does not see the problem.
    shared = await send_form(ada, f"/attempts/{attempt}", f"/attempts/{attempt}/share")
    link = re.search(r"/shared/[\w-]+", shared.text)[0]
    assert [(await http.get(link, headers=HTML)).status_code for http in (ada, tess, bob)] == [200, 200, 404]
    taken = await tess.delete(f"{course_path(course)}/{SLUG}", headers=JSON)
    assert taken.status_code == 204
    assert (await ada.get(REST)).status_code == 404
    assert (await bob.get(link, headers=HTML)).status_code == 404
    assert (await ada.get(f"/api/v1/attempts/{attempt}")).json()["score"] == 100


async def test_a_course_sees_its_own_version_of_a_published_problem(either, people):
    ada, bob, tess = people
    course = await create(tess)
    await join(ada, course)
    version = (await upload(either, FILES | {"statement.md": "Add one, harder."})).json()["version"]
    body = {"problem": "add_one", "version": version}
    given = (await tess.post(course_path(course), json=body, headers=JSON)).json()
    assert given["private"] is False
    assert "in the public repository" in given["warning"]
    for http, statement in ((ada, "Add one, harder."), (bob, "Add one."), (tess, "Add one.")):
        assert (await http.get("/api/v1/problems/add_one")).json()["statement"] == statement
    assert (await ada.get("/api/v1/problems/add_one")).headers["cache-control"] == "private, no-cache"
    attempt = await send(either, ada, GOOD)
    assert (await ada.get(f"/api/v1/attempts/{attempt}")).json()["version"] == version


async def test_an_exam_keeps_its_problem_secret_before_and_explains_it_after(either, people):
    ada, bob, tess = people
    course = (await tess.post("/api/v1/courses", json={"name": "JAX", "time_zone": "UTC"}, headers=JSON)).json()
    await give(either, tess, course)
    async with browser(either) as assistant, browser(either) as nobody:
        await sign_up(either, assistant, "tim")
        for http in (ada, assistant):
            await join(http, course)
        role = f"/api/v1/courses/{course['id']}/people/{await me(assistant)}/role"
        assert (await tess.put(role, json={"role": "assistant"}, headers=JSON)).status_code == 204

        async def seen() -> dict[str, set[str]]:
            callers = {"ada": ada, "bob": bob, "nobody": nobody, "assistant": assistant}
            return {name: together(await marks_seen(either, http)) for name, http in callers.items()}

        body = {"name": "Exam", "exam": True, "problems": [{"problem": SLUG}], "closed_for": "everyone"}
        path = f"/api/v1/courses/{course['id']}/assignments"
        later = body | {"opens": at(hours=1), "due": at(hours=2)}
        made = (await tess.post(path, json=later, headers=JSON)).json()
        assert made["warnings"] == []
        hidden = {"bob": set(), "nobody": set()}
        assert await seen() == hidden | {"ada": set(), "assistant": ALL_OPEN}
        now_open = body | {"opens": at(hours=-1), "due": at(hours=1)}
        assert (await tess.put(f"{path}/{made['id']}", json=now_open, headers=JSON)).status_code == 200
        assert await seen() == hidden | {"ada": TASK, "assistant": ALL_OPEN}
        await solve(either, ada)
        assert await seen() == hidden | {"ada": TASK | {"reference"}, "assistant": ALL_OPEN}
        over = body | {"opens": at(hours=-1), "due": at(minutes=-5)}
        assert (await tess.put(f"{path}/{made['id']}", json=over, headers=JSON)).status_code == 200
        assert await seen() == hidden | {"ada": SOLVED, "assistant": ALL_OPEN}


async def test_the_maker_of_an_exam_learns_what_cannot_be_hidden(either, people):
    _, _, tess = people
    course = await create(tess, exam=True)
    assert "in the public repository" in (await tess.get(f"/courses/{course['id']}")).text
    body = {"name": "Exam", "exam": True, "problems": [{"problem": "add_one"}]}
    path = f"/api/v1/courses/{course['id']}/assignments"
    made = await tess.post(path, json=body | {"opens": at(hours=1), "due": at(hours=2)}, headers=JSON)
    [warning] = made.json()["warnings"]
    assert warning.startswith("add_one comes with this service")


async def test_instructors_give_and_take_back_on_a_page(either, people):
    ada, _, tess = people
    course = await create(tess)
    await join(ada, course)
    path = f"/courses/{course['id']}/problems"
    assert (await ada.get(path, headers=HTML)).status_code == 403
    assert "No problems of its own" in (await tess.get(path, headers=HTML)).text
    refused = await send_form(tess, path, path, problem="no_such_problem")
    assert "No version of the problem &#39;no_such_problem&#39; is stored." in refused.text
    assert 'value="no_such_problem"' in refused.text
    await give(either, tess, course)
    given = await send_form(tess, path, path, problem=SLUG, visible_from=at(days=2))
    assert given.status_code == 303
    [found] = (await tess.get(f"/api/v1{path}", headers=JSON)).json()["problems"]
    assert (found["problem"], found["private"], found["warning"]) == (SLUG, True, None)
    assert MARKS["title"] in (await tess.get(path, headers=HTML)).text
    assert (await send_form(tess, path, f"{path}/{SLUG}/remove")).status_code == 303
    assert (await tess.delete(f"/api/v1{path}/{SLUG}", headers=JSON)).status_code == 404
    actions = [each.action for each in await changes_in(either)]
    assert actions == ["problem-taken-back", "problem-given", "problem-given"]
