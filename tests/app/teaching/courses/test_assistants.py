"""Assistants read and grade attempts of their course's students at its problems, and nothing else."""

import pytest

from app.core.database import Database
from app.teaching.courses.models import AssignmentProblemRow
from tests.app.accounts.people import browser, sign_up
from tests.app.teaching.courses.test_courses import JSON, create, join, people
from tests.app.teaching.people.test_attempts_of_others import GOOD, me, send

pytestmark = pytest.mark.anyio
__all__ = ["people"]
PAGE = {"Accept": "text/html"}


def addresses(person: str, attempt: str) -> list[str]:
    return [
        f"/people/{person}/attempts",
        f"/people/{person}/attempts/{attempt}",
        f"/people/{person}/problems/add_one",
        f"/api/v1/people/{person}/attempts",
        f"/api/v1/people/{person}/attempts/{attempt}",
    ]


async def appoint(tess, course: dict, person: str, role: str = "assistant") -> None:
    path = f"/api/v1/courses/{course['id']}/people/{person}/role"
    assert (await tess.put(path, json={"role": role}, headers=JSON)).status_code == 204


async def test_an_assistant_reads_the_students_of_the_course_and_nobody_else(either, people):
    ada, bob, tess = people
    mine, other = await create(tess), await create(tess)
    async with browser(either) as cat, browser(either) as dan:
        await sign_up(either, cat, "cat")
        await sign_up(either, dan, "dan")
        for http, course in ((ada, mine), (bob, mine), (cat, other), (dan, other)):
            await join(http, course)
        await appoint(tess, mine, await me(bob))
        await appoint(tess, other, await me(dan))
        own, foreign = await send(either, ada, GOOD), await send(either, cat, GOOD)
        run = await send(either, ada, GOOD, "runs")
        for path in [*addresses(await me(ada), own), *addresses(await me(ada), run)]:
            answer = await bob.get(path, headers=PAGE)
            assert answer.status_code == 200, path
            assert f'href="/people/{await me(ada)}"' not in answer.text  # the account, which is for instructors
            # The assistant of another course, a student, and somebody without an account.
            for reader in (dan, cat):
                assert (await reader.get(path, headers=PAGE)).status_code == 403, path
        for path in addresses(await me(cat), foreign):
            assert (await bob.get(path, headers=PAGE)).status_code == 403, path
            assert (await dan.get(path, headers=PAGE)).status_code == 200, path
        # Nothing of instructors, of other assistants, of themselves, or of somebody who does not exist.
        for person in (await me(tess), await me(dan), await me(bob), "0" * 32, "x"):
            for path in addresses(person, own):
                assert (await bob.get(path, headers=PAGE)).status_code == 403, path
        for path in ("/people", f"/people/{await me(ada)}", "/problems/add_one/people", "/api/v1/people", "/insight"):
            assert (await bob.get(path, headers=PAGE)).status_code == 403, path
        await appoint(tess, mine, await me(bob), "student")
        for path in addresses(await me(ada), own):
            assert (await bob.get(path, headers=PAGE)).status_code == 403, path


async def test_an_assistant_reads_nothing_at_other_problems(either, people):
    ada, bob, tess = people
    course = await create(tess)
    for http in (ada, bob):
        await join(http, course)
    await appoint(tess, course, await me(bob))
    attempt, person = await send(either, ada, GOOD), await me(ada)
    async with either.services[Database].writing() as session:
        [assignment] = (await tess.get(f"/api/v1/courses/{course['id']}/assignments")).json()["assignments"]
        (await session.get_one(AssignmentProblemRow, (assignment["id"], 0))).problem = "another"
    listed = await bob.get(f"/api/v1/people/{person}/attempts")
    assert (listed.status_code, listed.json()["attempts"]) == (200, [])
    assert attempt not in (await bob.get(f"/people/{person}/attempts", headers=PAGE)).text
    for path in addresses(person, attempt):
        if not path.endswith("/attempts"):
            assert (await bob.get(path, headers=PAGE)).status_code == 403, path
    assert attempt in (await tess.get(f"/api/v1/people/{person}/attempts")).text


async def test_an_assistant_comments_on_attempts_of_their_students_and_changes_their_points(either, people):
    ada, bob, tess = people
    course = await create(tess)
    async with browser(either) as cat:
        await sign_up(either, cat, "cat")
        for http in (ada, bob):
            await join(http, course)
        await appoint(tess, course, await me(bob))
        here, line = f"/people/{await me(ada)}/attempts/{await send(either, ada, GOOD)}", {"line": 1, "text": "Good."}
        elsewhere = f"/people/{await me(cat)}/attempts/{await send(either, cat, GOOD)}"
        points = {"score": 90, "reason": "late"}
        assert 'id="comment"' in (await bob.get(here, headers=PAGE)).text
        added = await bob.post(f"/api/v1{here}/comments", json=line, headers=JSON)
        assert (added.status_code, added.json()["author"]) == (201, "bob")
        by_tess = (await tess.post(f"/api/v1{here}/comments", json=line, headers=JSON)).json()["id"]
        assert len((await bob.get(f"/api/v1{here}/comments")).json()["comments"]) == 2
        assert (await bob.delete(f"/api/v1{here}/comments/{by_tess}", headers=JSON)).status_code == 403
        assert (await bob.delete(f"/api/v1{here}/comments/{added.json()['id']}", headers=JSON)).status_code == 204
        assert (await bob.put(f"/api/v1{here}/override", json=points, headers=JSON)).json()["by"] == "bob"
        assert (await bob.delete(f"/api/v1{here}/override", headers=JSON)).status_code == 204
        for reader, path in ((bob, elsewhere), (cat, here), (ada, here)):
            assert (await reader.post(f"/api/v1{path}/comments", json=line, headers=JSON)).status_code == 403
            assert (await reader.put(f"/api/v1{path}/override", json=points, headers=JSON)).status_code == 403


async def test_an_assistant_changes_nothing_of_the_course(either, people):
    ada, bob, tess = people
    course = await create(tess)
    for http in (ada, bob):
        await join(http, course)
    await appoint(tess, course, await me(bob))
    [assignment] = (await tess.get(f"/api/v1/courses/{course['id']}/assignments")).json()["assignments"]
    here = f"/api/v1/courses/{course['id']}"
    for method, path, body in (
        ("POST", f"{here}/assignments", {}),
        ("PUT", f"{here}/assignments/{assignment['id']}", {}),
        ("DELETE", f"{here}/assignments/{assignment['id']}", None),
        ("GET", f"{here}/assignments/{assignment['id']}/extensions", None),
        ("PUT", f"{here}/assignments/{assignment['id']}/extensions/{await me(ada)}", {}),
        ("POST", f"{here}/roster", {"csv": "name\nX"}),
        ("POST", f"{here}/announcements", {"text": "x"}),
        ("DELETE", f"{here}/people/{await me(ada)}", None),
        ("PUT", f"{here}/people/{await me(bob)}/role", {"role": "student"}),
    ):
        answer = await bob.request(method, path, json=body, headers=JSON)
        assert (answer.status_code, answer.json()["slug"]) in ((403, "role-missing"), (403, "right-missing")), path
    page = (await bob.get(f"/courses/{course['id']}")).text
    for hidden in ("New assignment", "New announcement", "Import a roster", "/edit", course["join_code"]):
        assert hidden not in page
    assert "Statistics" in page
