"""Real names are beside nicknames for staff, and nowhere for students."""

import csv
import io

import pytest
from sqlalchemy import update

from app.accounts.models import InvitationRow
from app.core.database import Database
from app.grading.queue.models import AttemptRow
from tests.app.accounts.people import send_form
from tests.app.teaching.courses.test_courses import JSON, create, join, people
from tests.app.teaching.courses.test_roster_people import count, imported
from tests.app.teaching.people.test_attempts_of_others import GOOD, send
from tests.app.teaching.similarity.disguises import renamed
from tests.app.teaching.similarity.labelled import SOLUTIONS

pytestmark = pytest.mark.anyio
__all__ = ["people"]
ROSTER = "username,name,email,student number,section\nada,Zoë Ångström,zoe@example.org,s-1,Monday\n"


async def course_of(either, ada, bob, tess) -> dict:
    course = await create(tess)
    await imported(tess, course, ROSTER)
    await join(bob, course)
    for http, source in ((ada, SOLUTIONS[0]), (bob, renamed(SOLUTIONS[0]))):
        attempt_id = await send(either, http, GOOD)
        async with either.services[Database].writing() as session:
            await session.execute(update(AttemptRow).where(AttemptRow.id == attempt_id).values(source=source))
    return course


async def test_staff_see_who_a_student_is(either, people):
    ada, bob, tess = people
    course = await course_of(either, ada, bob, tess)
    here = f"/courses/{course['id']}"
    book = (await tess.get(f"/api/v1{here}/gradebook")).json()["students"]
    assert [each["identity"] and each["identity"]["name"] for each in book] == [None, "Zoë Ångström"]
    tried = (await tess.get("/api/v1/problems/add_one/people")).json()["people"]
    assert [each["identity"] and each["identity"]["student_number"] for each in tried] == ["s-1", None]
    alike = f"/problems/add_one/similarity?course={course['id']}"
    pair = (await tess.get(f"/api/v1{alike}")).json()["pairs"][0]
    assert {pair[each]["user"]["name"]: pair[each]["user"]["identity"] is None for each in ("one", "other")} == {
        "ada": False,
        "bob": True,
    }
    ada_id = (await ada.get("/api/v1/me")).json()["id"]
    person = f"/people/{ada_id}"
    for page in (f"{here}/gradebook", "/problems/add_one/people", alike, f"{alike}&q=Zo%C3%AB", person):
        assert "Zoë Ångström · s-1 · zoe@example.org · Monday" in (await tess.get(page)).text, page
    for file, column in ((f"{here}/gradebook.csv", "real name"), ("/problems/add_one/similarity.csv", "real name 1")):
        head, *rows = csv.reader(io.StringIO((await tess.get(file)).text.removeprefix("\ufeff")))
        assert "Zoë Ångström" in [row[head.index(column)] for row in rows]
    found = (await tess.get(f"/api/v1{here}/gradebook?q=Ångst")).json()["students"]
    assert [each["name"] for each in found] == ["ada"]
    for query, names in (("section=Monday", ["ada"]), ("section=Tuesday", []), ("q=S-1", ["ada"])):
        found = (await tess.get(f"/api/v1{here}/gradebook?{query}")).json()["students"]
        assert [each["name"] for each in found] == names, query


async def test_students_see_nobodys_real_name(either, people):
    ada, bob, tess = people
    course = await course_of(either, ada, bob, tess)
    here = f"/courses/{course['id']}"
    pages = [here, "/courses", "/problems/add_one", "/problems/add_one/solutions", "/api/v1/problems/add_one/ranking"]
    for http in (ada, bob):
        for page in pages:
            text = (await http.get(page)).text
            assert "Ångström" not in text, page
            assert "zoe@example.org" not in text, page
        for page in (f"{here}/gradebook", f"{here}/roster", f"/api/v1{here}/gradebook"):
            assert (await http.get(page)).status_code == 403
    ada_id = (await ada.get("/api/v1/me")).json()["id"]
    role = await tess.put(f"/api/v1{here}/people/{ada_id}/role", json={"role": "assistant"}, headers=JSON)
    assert role.status_code == 204
    assert (await ada.get(f"/api/v1{here}/gradebook")).status_code == 200


async def test_the_page_of_people_has_members_and_who_was_invited(either, people, monkeypatch):
    ada, bob, tess = people
    course = await course_of(either, ada, bob, tess)
    here = f"/courses/{course['id']}"
    rows = await imported(tess, course, "name,email,section\nGrace Hopper,grace@example.org,Tuesday\n")
    listed = (await tess.get(f"/api/v1{here}/roster")).json()
    assert [(each["account"], each["state"], each["line"] is not None) for each in listed["people"]] == [
        ("bob", "member", False),
        (None, "invited", True),
        ("ada", "member", True),
    ]
    first = (await tess.get(f"/api/v1{here}/roster?limit=2")).json()
    rest = (await tess.get(f"/api/v1{here}/roster?limit=2&after={first['next']}")).json()
    assert [*first["people"], *rest["people"]] == listed["people"]
    for query, found in (("q=hopper", [None]), ("section=Monday", ["ada"]), ("q=BO", ["bob"]), ("q=nobody", [])):
        answer = (await tess.get(f"/api/v1{here}/roster?{query}")).json()["people"]
        assert [each["account"] for each in answer] == found, query
    monkeypatch.setattr("app.teaching.courses.roster_people_pages._PAGE", 2)
    page = (await tess.get(f"{here}/people")).text
    for words in ("3 people", "joined by code", "invited, no account yet", "Next page"):
        assert words in page
    assert "Zoë Ångström · s-1" in (await tess.get(f"{here}/people?q=zo%C3%AB")).text
    course_page = (await tess.get(here)).text
    assert "Zoë Ångström · s-1 · zoe@example.org · Monday, joined" in course_page
    links = list(csv.reader(io.StringIO((await tess.get(f"{here}/invitations.csv")).text.removeprefix("\ufeff"))))
    assert links == [["name", "email", "link"], ["Grace Hopper", "grace@example.org", rows[0]["url"]]]
    for http in (ada, bob):
        for path in (f"{here}/people", f"{here}/invitations.csv", f"/api/v1{here}/roster"):
            assert (await http.get(path)).status_code == 403


async def test_a_line_is_forgotten_and_the_invitation_with_it(either, people):
    tess = people[2]
    first, second = await create(tess), await create(tess)
    for course in (first, second):
        await imported(tess, course, "name,email\nGrace Hopper,grace@example.org\n")
    path = f"/courses/{first['id']}/people"
    [person] = (await tess.get(f"/api/v1/courses/{first['id']}/roster")).json()["people"]
    removed = await send_form(tess, path, f"/courses/{first['id']}/roster/{person['line']}/remove")
    assert (removed.status_code, removed.headers["location"]) == (303, path)
    assert (await tess.get(f"/api/v1/courses/{first['id']}/roster")).json()["people"] == []
    assert await count(either, InvitationRow) == 1
    [other] = (await tess.get(f"/api/v1/courses/{second['id']}/roster")).json()["people"]
    api = f"/api/v1/courses/{second['id']}/roster/{other['line']}"
    assert (await tess.delete(api, headers=JSON)).status_code == 204
    assert (await tess.delete(api, headers=JSON)).status_code == 404
    assert await count(either, InvitationRow) == 0
