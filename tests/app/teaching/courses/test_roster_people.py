"""Who is on a roster stays known, and becomes a member with the account that they have, on each database."""

import re

import pytest
from sqlalchemy import delete, func, select

from app.accounts.models import InvitationRow, UserRow
from app.core.database import Database
from app.teaching.courses.models import CourseRow, MemberRow, RosterLineRow
from tests.app.accounts.people import PASSWORD, SITE, browser, form_token, send_form, sign_in
from tests.app.teaching.courses.test_courses import JSON, create, join, people

pytestmark = pytest.mark.anyio
__all__ = ["people"]
MOODLE = "First name,Surname,ID number,Email address,Groups\nGrace,Hopper,s1,Grace@Example.org,Mon\n"


async def imported(tess, course: dict, text: str) -> list[dict]:
    path = f"/api/v1/courses/{course['id']}/roster"
    answer = (await tess.post(path, json={"csv": text, "import": True}, headers=JSON)).json()
    assert answer["imported"], answer
    return answer["rows"]


async def use(http, url: str, name: str) -> str:
    """Sign up with a link. Returns where it leads."""
    page = url[url.index("/sign-up") :]
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', (await http.get(page)).text))
    done = await http.post("/sign-up", data=fields | {"name": name, "password": PASSWORD}, headers=SITE)
    assert done.status_code == 303, done.text
    return done.headers["location"]


async def lines(service) -> list[tuple[str, str, str, bool]]:
    async with service.services[Database].reading() as session:
        rows = await session.scalars(select(RosterLineRow).order_by(RosterLineRow.created_at, RosterLineRow.id))
        return [(each.name, each.email, each.section, each.user_id is not None) for each in rows]


async def members_of(service, course: dict) -> set[str]:
    async with service.services[Database].reading() as session:
        query = select(UserRow.name).join(MemberRow, MemberRow.user_id == UserRow.id)
        return set(await session.scalars(query.where(MemberRow.course_id == course["id"])))


async def count(service, row: type) -> int:
    async with service.services[Database].reading() as session:
        return await session.scalar(select(func.count()).select_from(row))


async def test_an_invitation_joins_every_course_that_names_it_and_the_next_course_needs_none(either, people):
    tess = people[2]
    first, second, third = await create(tess), await create(tess), await create(tess)
    [one] = await imported(tess, first, MOODLE)
    [two] = await imported(tess, second, "name,email\nG. Hopper,grace@example.org\n")
    [again] = await imported(tess, first, MOODLE.replace("Mon", "Tue"))
    assert [each["outcome"] for each in (one, two, again)] == ["invite", "invited", "invited"]
    assert one["url"] == again["url"]
    assert await count(either, InvitationRow) == 1
    assert await lines(either) == [
        ("Grace Hopper", "grace@example.org", "Tue", False),
        ("G. Hopper", "grace@example.org", "", False),
    ]
    async with browser(either) as grace:
        assert await use(grace, two["url"], "darkcat26") == f"/courses/{second['id']}"
    assert await count(either, InvitationRow) == 0
    assert await members_of(either, first) == await members_of(either, second) == {"darkcat26"}
    [three] = await imported(tess, third, "student number;name\ns1;Grace Hopper\n")
    assert (three["outcome"], three["detail"], three["url"]) == ("enrol", "The account is darkcat26.", None)
    assert await members_of(either, third) == {"darkcat26"}
    assert [each[3] for each in await lines(either)] == [True, True, True]
    [member] = await imported(tess, third, "student number;name\ns1;Grace B. Hopper\n")
    assert member["outcome"] == "member"
    assert (await lines(either))[2][0] == "Grace B. Hopper"


async def test_an_invitation_is_used_with_the_account_that_there_is(either, people):
    ada, _, tess = people
    course = await create(tess)
    [row] = await imported(tess, course, MOODLE)
    page = row["url"][row["url"].index("/sign-up") :]
    async with browser(either) as nobody:
        assert re.search(r'href="/sign-in\?next=/sign-up%3Finvitation', (await nobody.get(page)).text)
    shown = (await ada.get(page)).text
    assert "Join with the account ada" in shown
    fields = {"form_token": form_token(shown), "account": "keep", "next": f"/courses/{course['id']}"}
    token = re.search(r'name="invitation" value="([^"]+)"', shown)[1]
    joined = await ada.post("/sign-up", data=fields | {"invitation": token}, headers=SITE)
    assert (joined.status_code, joined.headers["location"]) == (303, f"/courses/{course['id']}")
    assert await members_of(either, course) == {"ada"}
    assert await lines(either) == [("Grace Hopper", "grace@example.org", "Mon", True)]
    used = await ada.post("/sign-up", data=fields | {"invitation": token}, headers=SITE)
    assert "The invitation no longer works" in used.text


async def test_an_invitation_without_a_course_only_creates_an_account(either, people):
    await sign_in(either)
    made = await either.http.post("/api/v1/invitations", json={"role": "instructor"}, headers=JSON)
    ada, token = people[0], made.json()["url"].partition("invitation=")[2]
    shown = (await ada.get(f"/sign-up?invitation={token}")).text
    fields = {"form_token": form_token(shown), "account": "keep", "invitation": token}
    assert "only creates an account" in (await ada.post("/sign-up", data=fields, headers=SITE)).text
    assert (await ada.get("/api/v1/me")).json()["role"] == "student"
    assert await count(either, InvitationRow) == 1


async def test_a_name_that_a_student_chose_finds_nobody_in_an_export(either, people):
    """Bob could have called his account like somebody's login."""
    bob, tess = people[1], people[2]
    course = await create(tess)
    [row] = await imported(tess, course, "Username,First name,Surname,Email address\nbob,Robert,Other,r@example.org\n")
    assert row["outcome"] == "invite"
    assert await members_of(either, course) == set()
    [named] = await imported(tess, course, "username,email\nbob,bob@example.org\n")
    assert named["outcome"] == "enrol"
    assert await members_of(either, course) == {"bob"}
    assert (await bob.get(f"/courses/{course['id']}/roster")).status_code == 403


async def test_contradictions_and_staff_are_skipped_with_the_reason(either, people):
    tess = people[2]
    first, second = await create(tess), await create(tess)
    text = "username,email,student number\nada,ada@example.org,1\nbob,bob@example.org,2\n"
    assert [each["outcome"] for each in await imported(tess, first, text)] == ["enrol", "enrol"]
    rows = await imported(
        tess,
        second,
        "name,email,student number,role\nA,bob@example.org,1,\nB,other@example.org,2,\nT,t@example.org,,Teacher\n",
    )
    assert [each["outcome"] for each in rows] == ["skip", "skip", "skip"]
    assert "belong to the accounts ada and bob. An owner can merge them" in rows[0]["detail"]
    assert "belongs to the account bob, whose email is bob@example.org" in rows[1]["detail"]
    assert "Instructors are added in the settings" in rows[2]["detail"]
    assert await members_of(either, second) == set()


async def test_who_joined_by_code_is_found_by_what_staff_wrote_later(either, people):
    ada, _, tess = people
    course = await create(tess)
    await join(ada, course)
    assert await lines(either) == []
    [row] = await imported(tess, course, "username,name,email,section\nada,Ada Lovelace,ada@example.org,A\n")
    assert row["outcome"] == "member"
    assert await lines(either) == [("Ada Lovelace", "ada@example.org", "A", True)]
    log = (await send_form(tess, f"/courses/{course['id']}/roster", f"/courses/{course['id']}/roster", csv="")).text
    assert "Row 1 must name the columns" in log


async def test_what_an_erasure_an_export_and_a_merge_do_with_lines(either, people):
    ada, bob, tess = people
    await sign_in(either)
    course, other = await create(tess), await create(tess)
    await imported(tess, course, "username,email\nada,ada@example.org\nbob,bob@example.org\n")
    await imported(tess, other, "username,name\nbob,Bob\n")
    exported = (await bob.get("/api/v1/me/export")).json()["roster_lines"]
    assert {each["email"] for each in exported} == {"bob@example.org", ""}
    bob_id = (await bob.get("/api/v1/me")).json()["id"]
    merged = await either.http.post(f"/api/v1/people/{bob_id}/merge", json={"into": "ada"}, headers=JSON)
    assert merged.status_code == 200, merged.text
    assert sorted(await lines(either)) == [("", "ada@example.org", "", True), ("Bob", "", "", True)]
    assert (await ada.delete("/api/v1/me?name=ada", headers=JSON)).status_code == 204
    assert await lines(either) == []


async def test_a_course_takes_its_lines_with_it(either, people):
    tess = people[2]
    course = await create(tess)
    await imported(tess, course, MOODLE)
    async with either.services[Database].writing() as session:
        await session.execute(delete(CourseRow).where(CourseRow.id == course["id"]))
    assert await lines(either) == []


async def test_the_audit_log_names_the_course_and_what_happened(either, people):
    tess = people[2]
    await imported(tess, await create(tess), MOODLE)
    await sign_in(either)
    entries = (await either.http.get("/api/v1/audit", headers=JSON)).json()["entries"]
    assert [(each["action"], each["detail"]) for each in entries[:1]] == [("roster-imported", "JAX: 1 invite")]


async def test_staff_find_a_person_by_what_a_roster_says_and_students_do_not(either, people):
    ada, bob, tess = people
    course = await create(tess)
    await join(ada, course)
    await imported(tess, course, "username,name,email,student number\nada,Ada Lovelace,countess@example.org,s42\n")
    for q in ("lovelace", "Countess@", "s42"):
        listed = (await tess.get("/api/v1/people", params={"q": q})).json()["people"]
        assert [(each["name"], each["identity"]["name"]) for each in listed] == [("ada", "Ada Lovelace")], q
        assert "Ada Lovelace" in (await tess.get("/people", params={"q": q})).text
        hits = (await tess.get("/search/found", params={"q": q})).json()
        assert [each["title"] for each in hits if each["group"] == "People"] == ["ada"], q
        assert not [each for each in (await bob.get("/search/found", params={"q": q})).json() if "ada" in each["title"]]
    assert (await tess.get("/api/v1/people", params={"q": "100%"})).json()["people"] == []
