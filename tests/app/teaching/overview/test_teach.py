"""What instructors and assistants see first: what is due, who is stuck and what waits."""

from datetime import timedelta

import pytest
from sqlalchemy import update

from app.core.clock import now
from app.core.database import Database
from app.grading.queue.models import AttemptRow
from app.teaching.courses.models import AssignmentRow
from tests.app.accounts.people import SITE, browser, send_form, sign_up
from tests.app.teaching.courses.test_assistants import appoint
from tests.app.teaching.courses.test_courses import create, join, people
from tests.app.teaching.people.test_attempts_of_others import GOOD, me, send

pytestmark = pytest.mark.anyio
__all__ = ["people"]


async def reject(service, http, times: int) -> None:
    """Have the newest attempts of a person rejected."""
    ids = [await send(service, http, f"# {place}\n") for place in range(times)]
    async with service.services[Database].writing() as session:
        await session.execute(
            update(AttemptRow).where(AttemptRow.id.in_(ids)).values(verdict_status="rejected", score=10)
        )


async def test_an_instructor_without_a_course_reads_what_to_do_first(either, people):
    page = (await people[2].get("/teach")).text
    for words in ("No course yet", 'href="/courses"', "Nobody is stuck", "Nothing waits"):
        assert words in page


async def test_what_is_due_and_who_is_stuck(either, people):
    ada, bob, tess = people
    course = await create(tess)
    for http in (ada, bob):
        await join(http, course)
    await reject(either, ada, 3)
    await reject(either, bob, 3)
    page = (await tess.get("/teach")).text
    assert "Week 1" in page
    assert "2 of 2" in page
    assert f'href="/people/{await me(ada)}/problems/add_one"' in page
    assert f'href="/people/{await me(bob)}/problems/add_one"' in page
    await send(either, bob, GOOD)
    page = (await tess.get("/teach")).text
    assert f'href="/people/{await me(ada)}/problems/add_one"' in page
    assert f'href="/people/{await me(bob)}/problems/add_one"' not in page


async def test_what_waits_is_gone_once_it_is_done(either, people):
    ada, bob, tess = people
    course = await create(tess)
    for http in (ada, bob):
        await join(http, course)
        await send(either, http, GOOD)
    await send_form(ada, "/problems/add_one/report", "/problems/add_one/report", text="The bound is wrong.")
    async with either.services[Database].writing() as session:
        await session.execute(update(AssignmentRow).values(due_at=now() - timedelta(minutes=1)))
    page = (await tess.get("/teach")).text
    similar = f"/problems/add_one/similarity?course={course['id']}"
    assert "The bound is wrong." in page
    assert f'href="{similar}"' in page
    await tess.get(similar)
    [report] = (await tess.get("/api/v1/reports")).json()["reports"]
    await tess.put(f"/api/v1/reports/{report['id']}", json={"done": True}, headers=SITE)
    assert "Nothing waits" in (await tess.get("/teach")).text


async def test_an_assistant_sees_the_courses_they_assist_and_a_student_none(either, people):
    ada, bob, tess = people
    mine, other = await create(tess), await create(tess, name="Of others")
    async with browser(either) as cat:
        await sign_up(either, cat, "cat")
        for http, course in ((ada, mine), (bob, mine), (cat, other), (bob, other)):
            await join(http, course)
        await appoint(tess, mine, await me(bob))
        await reject(either, ada, 3)
        await reject(either, cat, 3)
        page = (await bob.get("/teach")).text
        for words in ("Week 1", f"/courses/{mine['id']}/gradebook", f"/people/{await me(ada)}/problems/add_one"):
            assert words in page
        for hidden in ("Of others", await me(cat), "Waiting for you", 'aria-label="Teach"'):
            assert hidden not in page
        assert 'href="/teach"' in (await bob.get("/courses")).text
        for http in (ada, cat):
            assert (await http.get("/teach")).status_code == 403
            assert 'href="/teach"' not in (await http.get("/courses")).text.split("<main")[1]
