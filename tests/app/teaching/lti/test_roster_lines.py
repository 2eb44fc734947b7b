"""What a platform says of a person is kept in the roster of the course that it is linked to."""

import pytest
from sqlalchemy import func, select

from app.accounts.models import InvitationRow, UserRow
from app.core.database import Database
from app.teaching.courses.models import RosterLineRow
from tests.app.accounts.people import browser, send_form
from tests.app.teaching.courses.test_courses import create
from tests.app.teaching.courses.test_roster_people import imported, members_of, use
from tests.app.teaching.lti.platform import LTI, ROLE
from tests.app.teaching.lti.test_course import connect, tess
from tests.app.teaching.lti.test_launch import first_launch

pytestmark = pytest.mark.anyio
__all__ = ["tess"]
PERSON = {
    "given_name": "Ada",
    "family_name": "Lovelace",
    "email": "Ada@Example.org",
    f"{LTI}lis": {"person_sourcedid": "s-1"},
}


async def lines(school) -> list[RosterLineRow]:
    async with school.services[Database].reading() as session:
        return list(await session.scalars(select(RosterLineRow).order_by(RosterLineRow.created_at)))


async def test_a_launch_is_kept_and_uses_up_the_invitation(school, platform, tess):
    async with browser(school) as ada, browser(school) as first:
        await first_launch(school, platform, first, claims={"sub": "other"})
        assert await lines(school) == []
        course, second = await create(tess), await create(tess)
        await connect(tess, course)
        for each in (course, second):
            await imported(tess, each, "name,email,section\nA. Lovelace,ada@example.org,Monday\n")
        await first_launch(school, platform, ada, claims=PERSON)
        me = (await ada.get("/api/v1/me")).json()
    found = [each for each in await lines(school) if each.course_id == course["id"]]
    [line] = found
    assert (line.user_id, line.name, line.given_name, line.family_name) == (
        me["id"],
        "Ada Lovelace",
        "Ada",
        "Lovelace",
    )
    assert (line.email, line.student_number, line.section) == ("ada@example.org", "s-1", "Monday")
    assert await members_of(school, second) == {me["name"]}
    async with school.services[Database].reading() as session:
        assert await session.scalar(select(func.count()).select_from(InvitationRow)) == 0


async def test_a_launch_alone_makes_a_line_and_an_odd_claim_does_not_matter(school, platform, tess):
    async with browser(school) as ada, browser(school) as bob:
        await first_launch(school, platform, ada, claims=PERSON)
        course = await create(tess)
        await connect(tess, course)
        await platform.launch(ada, claims=PERSON)
        odd = {"sub": "subject-2", "name": ["Bob"], "email": 7, f"{LTI}lis": "s-2"}
        await first_launch(school, platform, bob, claims=odd)
    assert [(each.email, each.student_number) for each in await lines(school)] == [("ada@example.org", "s-1")]


async def test_the_roster_of_the_platform_is_kept_and_creates_no_second_account(school, platform, tess):
    async with browser(school) as first, browser(school) as grace:
        await first_launch(school, platform, first, claims={"sub": "teacher", f"{LTI}roles": [f"{ROLE}Instructor"]})
        course = await create(tess)
        page = await connect(tess, course)
        [row] = await imported(tess, course, "name,email\nGrace,grace@example.org\n")
        await use(grace, row["url"], "darkcat26")
        members = [("a", "Ada", "s-1", "ada@example.org"), ("g", "Grace", "s-2", "grace@example.org")]
        platform.pages = [
            [
                {"user_id": key, "name": name, "lis_person_sourcedid": number, "email": email, "roles": ["Learner"]}
                for key, name, number, email in members
            ]
        ]
        before = await accounts(school)
        html = (await tess.get(page)).text
        address = html.partition(f'action="{page}/')[2].partition("/")[0]
        done = await send_form(tess, page, f"{page}/{address}/roster")
        assert done.status_code == 200, done.text
    assert await accounts(school) == before + 1
    assert {(each.name, each.student_number) for each in await lines(school)} == {("Ada", "s-1"), ("Grace", "")}


async def accounts(school) -> int:
    async with school.services[Database].reading() as session:
        return await session.scalar(select(func.count()).select_from(UserRow)) or 0
