"""The rights of assistants: each opens its routes and no others, and the rest of the service knows them."""

import csv
import html
import io
from zipfile import ZipFile

import pytest
from fastapi.routing import iter_route_contexts
from sqlalchemy import select

from app.core.database import Database
from app.teaching.courses.models import MemberRow
from app.teaching.courses.rights import RIGHT_MEANINGS, RIGHTS
from tests.app.accounts.people import browser, form_token, send_form, sign_in, sign_up
from tests.app.routes import address, routes_of
from tests.app.teaching.courses.routes_by_right import OF_QUERIES, OF_RIGHTS, OPENED
from tests.app.teaching.courses.test_assistants import appoint
from tests.app.teaching.courses.test_courses import JSON, changes_in, create, join, people
from tests.app.teaching.people.test_attempts_of_others import GOOD, me, send

pytestmark = pytest.mark.anyio
__all__ = ["people"]


def needs_of(dependant) -> set[str]:
    """The names of the dependencies of course_in_path.py below this one."""
    found = set()
    for each in dependant.dependencies:
        if each.call.__module__ == "app.teaching.courses.course_in_path":
            found.add(each.call.__name__)
        found |= needs_of(each)
    return found


async def give(tess, course: dict, person: str, *rights: str) -> None:
    path = f"/api/v1/courses/{course['id']}/people/{person}/rights"
    answer = await tess.put(path, json={"rights": list(rights)}, headers=JSON)
    assert answer.status_code == 204, answer.text


async def assisted(people) -> tuple[dict, str]:
    """A course with a student, ada, and an assistant, bob; and the id of bob."""
    ada, bob, tess = people
    course = await create(tess)
    for each in (ada, bob):
        await join(each, course)
    await appoint(tess, course, person := await me(bob))
    return course, person


async def test_every_route_of_a_course_says_who_may_open_it(service):
    found: dict[str, set[tuple[str, str]]] = {}
    for context in iter_route_contexts(service.app.routes):
        if "{course_id}" not in context.path:
            continue
        needs = needs_of(context.original_route.dependant)
        # The page of a form may need less than the form.
        strictest = next((each for each in reversed(OPENED) if each in needs), "nothing")
        for method in context.methods - {"HEAD"}:
            found.setdefault(strictest, set()).add((method, context.path))
    assert found == OPENED
    assert set().union(*OPENED.values()) == {each for each in routes_of(service.app) if "{course_id}" in each[1]}


async def test_every_route_with_a_course_in_its_query_says_which_right_opens_it(service):
    found: dict[str, set[tuple[str, str]]] = {}
    for context in iter_route_contexts(service.app.routes):
        dependant = getattr(context.original_route, "dependant", None)
        for name in needs_of(dependant) if dependant else ():
            if name.startswith("chosen_course_with_"):
                right = name.removeprefix("chosen_course_with_")
                found.setdefault(right, set()).update((method, context.path) for method in context.methods - {"HEAD"})
    assert found == OF_QUERIES


async def test_a_right_opens_pages_of_a_problem_for_the_students_of_the_course(either, people):
    ada, bob, tess = people
    course, person = await assisted(people)
    other = await create(tess)
    async with browser(either) as cat, browser(either) as tom:
        for http, name in ((cat, "cat"), (tom, "tom")):
            await sign_up(either, http, name, "instructor" if http is tom else "student")
        own, foreign = await send(either, ada, GOOD), await send(either, cat, GOOD)
        for right, routes in OF_QUERIES.items():
            for _, path in sorted(routes):
                here = path.format(slug="add_one", one_id=own, other_id=own, key="0" * 16)
                there, missing = (
                    f"{here}?course={course['id']}",
                    (404,) if "{" in path.replace("{slug}", "") else (200,),
                )
                await give(tess, course, person, *(each for each in RIGHTS if each != right))
                refused = await bob.get(there, headers=JSON)
                assert (refused.status_code, refused.json()["slug"]) == (403, "right-missing"), path
                await give(tess, course, person, right)
                assert (await bob.get(there, headers=JSON)).status_code in (200, *missing), path
                # Neither all students, nor another course, nor a problem outside the course's assignments.
                for query in ("", f"?course={other['id']}", "?course=x"):
                    refused = await bob.get(here + query, headers=JSON)
                    assert (refused.status_code, refused.json()["slug"]) == (403, "role-missing"), (path, query)
                elsewhere = await bob.get(there.replace("add_one", "add_two"), headers=JSON)
                assert (elsewhere.status_code, elsewhere.json()["slug"]) == (403, "role-missing"), path
                assert (await ada.get(there, headers=JSON)).status_code == 403, path
                assert (await tom.get(there, headers=JSON)).status_code == 404, path
                assert (await tess.get(there, headers=JSON)).status_code in (200, *missing), path
        await give(tess, course, person, "similarity")
        report = (await bob.get(f"/api/v1/problems/add_one/similarity?course={course['id']}")).text
        assert "ada" not in report
        assert "cat" not in report
        # Neither can be compared with a submission from outside the course, whose source nobody shows.
        for pair in (f"{own}/{foreign}", f"{foreign}/{own}"):
            compared = await bob.get(f"/problems/add_one/similarity/{pair}?course={course['id']}", headers=JSON)
            assert (compared.status_code, compared.json()["slug"]) == (404, "attempt-not-found")
        page = (await bob.get(f"/problems/add_one/similarity?course={course['id']}")).text
        for hidden in ("/authoring/add_one", "/problems/add_one/people", "/problems/add_one/insight"):
            assert hidden not in page


async def ask(http, method: str, path: str, course: dict, assignment: str, token: str):
    named = path.replace("{course_id}", course["id"]).replace("{assignment_id}", assignment)
    is_api = path.startswith("/api/")
    body = {} if method in ("GET", "DELETE") else {"json": {}} if is_api else {"data": {"form_token": token}}
    return await http.request(method, address(named, {"attempt_id": "0" * 32}), headers=JSON, **body)


async def test_a_right_opens_its_routes_and_no_other(either, people):
    bob, tess = people[1:]
    course, person = await assisted(people)
    [week] = (await tess.get(f"/api/v1/courses/{course['id']}/assignments")).json()["assignments"]
    token = form_token((await bob.get("/account")).text)
    closed = sorted(set().union(*OF_RIGHTS.values(), OPENED["taught_course"]))
    for given in [[], *([right] for right in RIGHTS), list(RIGHTS)]:
        await give(tess, course, person, *given)
        is_open = set().union(*(OF_RIGHTS[right] for right in given))
        for method, path in closed:
            answer = await ask(bob, method, path, course, week["id"], token)
            assert (answer.status_code != 403) == ((method, path) in is_open), (given, method, path, answer.text)
            if answer.status_code == 403:
                right = next((each for each in RIGHTS if (method, path) in OF_RIGHTS[each]), None)
                assert answer.json()["slug"] == ("right-missing" if right else "role-missing"), (method, path)
                assert answer.json().get("right") == right
    # Nothing that is open to every assistant depends on a right, and everything still does for a student.
    await give(tess, course, person)
    assert (await bob.get(f"/courses/{course['id']}/gradebook")).status_code == 200
    await appoint(tess, course, person, "student")
    for method, path in closed + sorted(OPENED["graded_course"]):
        answer = await ask(bob, method, path, course, week["id"], token)
        assert (answer.status_code, answer.json()["slug"]) == (403, "role-missing"), (method, path)


async def test_a_refusal_names_the_right_and_who_can_give_it(either, people):
    bob = people[1]
    course, _ = await assisted(people)
    refused = await bob.post(f"/api/v1/courses/{course['id']}/announcements", json={"text": "x"}, headers=JSON)
    assert (refused.status_code, refused.json()["right"]) == (403, "announcements")
    for words in ("an assistant of JAX", "'announcements'", "An instructor of the course can give it"):
        assert words in refused.json()["detail"]


async def test_an_instructor_gives_rights_on_the_page_of_settings(either, people):
    bob, tess = people[1:]
    course, person = await assisted(people)
    page = f"/courses/{course['id']}"
    settings, form = f"{page}/settings", f"{page}/people/{person}/rights"
    assert "checked" not in (await tess.get(settings)).text
    saved = await send_form(tess, settings, form, rights="", **{f"rights-{each}": "on" for each in RIGHTS[:2]})
    assert saved.headers["location"] == f"{settings}#assistants"
    shown = html.unescape((await tess.get(settings)).text)
    for right in RIGHTS:
        assert (f'name="rights-{right}" checked' in shown) == (right in RIGHTS[:2])
        assert RIGHT_MEANINGS[right].capitalize() in shown
    [listed] = (await tess.get(f"/api/v1{page}/assistants")).json()["assistants"]
    assert listed == {"id": person, "name": "bob", "rights": list(RIGHTS[:2])}
    # The same again changes nothing, and every change is in the audit log.
    await send_form(tess, settings, form, rights="", **{f"rights-{each}": "on" for each in RIGHTS[:2]})
    await send_form(tess, settings, form, rights="")
    given = ", ".join(RIGHTS[:2])
    assert [(each.action, each.detail, each.whom.name) for each in await changes_in(either)] == [
        ("course-rights-changed", f"{given} to none, in JAX", "bob"),
        ("course-rights-changed", f"none to {given}, in JAX", "bob"),
    ]
    for body, status in (({"rights": ["everything"]}, 422), ({}, 422)):
        assert (await tess.put(f"/api/v1{form}", json=body, headers=JSON)).status_code == status
    ada = f"/api/v1{page}/people/{await me(people[0])}/rights"
    assert (await tess.put(ada, json={"rights": []}, headers=JSON)).status_code == 404
    assert (await bob.put(f"/api/v1{form}", json={"rights": list(RIGHTS)}, headers=JSON)).status_code == 403


async def test_rights_end_with_the_role(either, people):
    tess = people[2]
    course, person = await assisted(people)
    await give(tess, course, person, *RIGHTS)
    for role in ("student", "assistant"):
        await appoint(tess, course, person, role)
    [listed] = (await tess.get(f"/api/v1/courses/{course['id']}/assistants")).json()["assistants"]
    assert listed["rights"] == []
    async with either.services[Database].reading() as session:
        assert await session.scalar(select(MemberRow.rights).where(MemberRow.user_id == person)) is None


async def test_an_assistant_sees_what_the_rights_open(either, people):
    ada, bob, tess = people
    course, person = await assisted(people)
    page = f"/courses/{course['id']}"
    hidden = {
        "similarity": "/similarity?course=",
        "announcements": "New announcement",
        "extensions": "/extensions",
        "roster": f"{page}/people",
    }
    shown = (await bob.get(page)).text
    assert not [each for each in hidden.values() if each in shown]
    for right, words in hidden.items():
        await give(tess, course, person, right)
        shown = (await bob.get(page)).text
        assert [each for each in hidden.values() if each in shown] == [words]
    await give(tess, course, person, "announcements", "extensions")
    assert (await send_form(bob, page, f"{page}/announcements", text="Room 2")).status_code == 303
    assert "Room 2" in (await ada.get(page)).text
    [week] = (await tess.get(f"/api/v1{page}/assignments")).json()["assignments"]
    where = f"{page}/assignments/{week['id']}"
    form = (await bob.get(f"{where}/extensions")).text
    assert f"{where}/edit" not in form
    more = {"person": await me(ada), "extra_minutes": "30", "reason": "ill"}
    assert (await send_form(bob, f"{where}/extensions", f"{where}/extend", **more)).status_code == 303
    assert "30 min more than others: ill" in (await ada.get(page)).text
    wrong = await send_form(bob, f"{where}/extensions", f"{where}/extend", **more | {"extra_minutes": "x"})
    assert (wrong.status_code, "extra_minutes: must be a whole number" in wrong.text, 'value="ill"' in wrong.text) == (
        422,
        True,
        True,
    )


async def test_rights_move_with_a_merged_account_and_are_in_the_export_but_not_in_a_copy(either, people):
    ada, bob, tess = people
    course, person = await assisted(people)
    await give(tess, course, person, *RIGHTS)
    here = f"/api/v1/courses/{course['id']}"
    archive = ZipFile(io.BytesIO((await tess.get(f"{here}/export")).content))
    rows = {
        each["account"]: each for each in csv.DictReader(io.StringIO(archive.read("roster.csv").decode("utf-8-sig")))
    }
    assert (rows["bob"]["rights"], rows["ada"]["rights"]) == (", ".join(RIGHTS), "")
    mine = (await bob.get("/api/v1/me/export")).json()["course_members"]
    assert [each["rights"] for each in mine] == [",".join(RIGHTS)]
    copied = await tess.post(f"{here}/copy", json={"name": "Next", "opens": "2027-02-01"}, headers=JSON)
    assert (await tess.get(f"/api/v1/courses/{copied.json()['id']}/assistants")).json() == {"assistants": []}
    await tess.delete(f"{here}/people/{await me(ada)}", headers=JSON)
    await sign_in(either)
    merged = await send_form(
        either.http, f"/people/{person}/merge?into=ada", f"/people/{person}/merge", into="ada", reason="one person"
    )
    assert merged.status_code == 303
    [listed] = (await tess.get(f"{here}/assistants")).json()["assistants"]
    assert (listed["name"], listed["rights"]) == ("ada", list(RIGHTS))


async def test_with_the_roster_an_assistant_manages_students_and_not_assistants(either, people):
    ada, bob, tess = people
    course, person = await assisted(people)
    await give(tess, course, person, "roster")
    page, here = f"/courses/{course['id']}", f"/api/v1/courses/{course['id']}"
    roster = "name,email,role\nEve,eve@example.org,\nIvy,ivy@example.org,assistant\n"
    checked = await bob.post(f"{here}/roster", json={"csv": roster}, headers=JSON)
    assert [each["outcome"] for each in checked.json()["rows"]] == ["invite", "skip"]
    assert checked.json()["rows"][1]["detail"] == "Only an instructor of the course can add an assistant."
    imported = await bob.post(f"{here}/roster", json={"csv": roster, "import": True}, headers=JSON)
    assert "/sign-up?invitation=" in imported.json()["rows"][0]["url"]
    assert "eve@example.org" in (await bob.get(f"{page}/invitations.csv")).text
    # The instructor invites the assistant, whom the other assistant cannot remove.
    await tess.post(f"{here}/roster", json={"csv": roster, "import": True}, headers=JSON)
    lines = {each["identity"]["name"]: each["line"] for each in await listed(bob, here) if each["identity"]}
    assert (await bob.delete(f"{here}/roster/{lines['Ivy']}", headers=JSON)).json()["slug"] == "role-missing"
    assert (await bob.delete(f"{here}/roster/{lines['Eve']}", headers=JSON)).status_code == 204
    shown = (await bob.get(f"{page}/people")).text
    assert "Make a student" not in shown
    assert "Make an assistant" not in shown
    assert f'href="/people/{await me(ada)}"' not in shown
    assert f"{page}/people/{person}/remove" not in shown
    removal = f"{page}/people/{await me(ada)}/remove"
    removed = await send_form(bob, f"{page}/people", removal)
    assert (await ada.get(page)).status_code == 404
    undo = removed.headers["location"]
    assert (await send_form(bob, undo, removal.replace("/remove", "/add"))).status_code == 303
    assert (await ada.get(page)).status_code == 200
    refused = await bob.delete(f"{here}/people/{person}", headers=JSON)
    assert (refused.status_code, refused.json()["slug"]) == (403, "role-missing")
    assert (await tess.delete(f"{here}/people/{person}", headers=JSON)).status_code == 204


async def listed(http, here: str) -> list[dict]:
    return (await http.get(f"{here}/roster", headers=JSON)).json()["people"]


async def test_insight_counts_the_students_of_the_course(either, people):
    ada, bob, tess = people
    course, person = await assisted(people)
    await give(tess, course, person, "insight")
    of_course = f"?course={course['id']}"
    async with browser(either) as cat:
        await sign_up(either, cat, "cat")
        for http in (ada, cat):
            await send(either, http, "x")
        everyone = (await tess.get("/api/v1/problems/add_one/insight")).json()
        for http in (bob, tess):
            theirs = (await http.get(f"/api/v1/problems/add_one/insight{of_course}")).json()
            assert (everyone["people"], theirs["people"]) == (2, 1)
            [cluster] = theirs["clusters"]
            where = f"/problems/add_one/insight/clusters/{cluster['key']}{of_course}"
            members = (await http.get(f"/api/v1{where}")).json()["members"]
            assert [each["user"]["name"] for each in members] == ["ada"]
        page = (await bob.get(f"/problems/add_one/insight{of_course}")).text
        for hidden in ("Make a misconception", "Reported faults", "/authoring/add_one", "/problems/add_one/people"):
            assert hidden not in page
        # Only instructors, who may read all of it, choose whose students count.
        assert 'name="course"' not in page
        chosen = f'<option value="{course["id"]}" selected>'
        assert chosen in (await tess.get(f"/problems/add_one/insight{of_course}")).text
        assert chosen.replace(" selected", "") in (await tess.get("/problems/add_one/insight?course=")).text
        group = (await bob.get(where)).text
        assert ">ada</a>" in group
        assert "<form" not in group.split("<main")[1]
        assert ">cat<" not in group
        assert (await bob.get(f"/people/{await me(ada)}/attempts/{members[0]['id']}")).status_code == 200
        assert "Make a misconception" in (await tess.get(f"/problems/add_one/insight{of_course}")).text
        form = (await tess.get(where)).text
        assert f'name="course" value="{course["id"]}"' in form
        refused = await send_form(
            tess,
            where,
            "/problems/add_one/insight/misconceptions",
            course=course["id"],
            cluster=cluster["key"],
            text="",
        )
        assert (refused.status_code, "<span>ada," in refused.text, "<span>cat," in refused.text) == (422, True, False)
