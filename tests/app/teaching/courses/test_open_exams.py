"""While an exam is open, its students cannot give up its problems, and what explains them is closed to them."""

from datetime import datetime, timedelta

import pytest
from sqlalchemy import update

from app.core.clock import MINUTE, end_of_minute, now
from app.core.database import Database
from app.grading.queue.withheld_verdicts import WithheldRow
from app.teaching.courses.models import AssignmentRow
from tests.app.teaching.courses.test_assignments import only_assignment
from tests.app.teaching.courses.test_courses import JSON, create, join, people
from tests.app.teaching.people.test_attempts_of_others import GOOD, me, send

pytestmark = pytest.mark.anyio
__all__ = ["people"]
PAGE, REST = "/problems/add_one", "/api/v1/problems/add_one"
HTML = {"Accept": "text/html"}


async def give_up(http):
    return await http.post(f"{REST}/give-up", json={"confirm": True}, headers=JSON)


async def end(either) -> None:
    async with either.services[Database].writing() as session:
        await session.execute(update(AssignmentRow).values(due_at=now() - timedelta(minutes=10)))


async def reads(http) -> dict[str, bool]:
    """Whether each thing that explains the problem is open to somebody."""
    page = (await http.get(PAGE, headers=HTML)).text
    return {
        "hints over REST": (await http.get(f"{REST}/hints")).status_code == 200,
        "hints on the page": 'id="hints"' in page,
        "editorial over REST": (await http.get(f"{REST}/editorial")).status_code == 200,
        "editorial on the page": "EDITORIAL-SECRET" in page,
        "editorial alone": "EDITORIAL-SECRET" in (await http.get(f"{PAGE}/editorial", headers=HTML)).text,
        "solutions": "Yours and the reference" in (await http.get(f"{PAGE}/solutions", headers=HTML)).text,
    }


async def test_nobody_gives_up_in_an_open_exam(either, people):
    ada, bob, tess = people
    course = await create(tess, exam=True)
    await join(ada, course)
    due = (await only_assignment(tess, course))["due_at"]
    refused = await give_up(ada)
    assert (refused.status_code, refused.json()["slug"]) == (403, "exam-open")
    assert refused.json()["open_until"] == end_of_minute(datetime.fromisoformat(due)).isoformat()
    assert (await ada.get(f"{PAGE}/give-up", headers=HTML)).status_code == 403
    assert not any((await reads(ada)).values())
    page = (await ada.get(PAGE, headers=HTML)).text
    assert "part of your exam" in page
    assert f"{PAGE}/give-up" not in page
    # The account of somebody who is not in the course.
    assert (await give_up(bob)).status_code == 200
    assert (await reads(bob))["editorial over REST"]
    await end(either)
    assert (await reads(ada))["hints over REST"]
    assert (await give_up(ada)).status_code == 200
    assert (await reads(ada))["editorial on the page"]


@pytest.mark.parametrize("how", ["gave up", "solved"])
async def test_what_was_open_before_is_closed_until_the_last_student_has_finished(either, people, how):
    ada, bob, tess = people
    await (give_up(ada) if how == "gave up" else send(either, ada, GOOD))
    before = await reads(ada)
    assert all(each for name, each in before.items() if how == "solved" or name != "solutions")
    course = await create(tess, exam=True)
    for http in (ada, bob):
        await join(http, course)
    assert not any((await reads(ada)).values())
    assignment = await only_assignment(tess, course)
    where = f"/api/v1/courses/{course['id']}/assignments/{assignment['id']}/extensions/{await me(bob)}"
    answer = await tess.put(where, json={"extra_minutes": 20, "reason": "ill"}, headers=JSON)
    assert answer.status_code < 300, answer.text
    await end(either)  # ten minutes ago: the other student has ten minutes more
    assert not any((await reads(ada)).values())
    async with either.services[Database].writing() as session:
        await session.execute(update(AssignmentRow).values(due_at=now() - timedelta(minutes=30)))
        # The attempt counts for the exam, too. A change of the due time by a page or over REST does this as well.
        await session.execute(update(WithheldRow).values(until=now() - MINUTE))
    assert await reads(ada) == before


async def test_an_assignment_that_is_no_exam_or_not_open_yet_closes_nothing(either, people):
    ada, _, tess = people
    course = await create(tess)
    await join(ada, course)
    assert (await reads(ada))["hints over REST"]
    async with either.services[Database].writing() as session:
        later = now() + timedelta(minutes=10)
        await session.execute(update(AssignmentRow).values(is_exam=True, opens_at=later))
    assert (await reads(ada))["hints over REST"]
    assert (await give_up(ada)).status_code == 200


async def test_instructors_are_told_what_others_can_see_and_see_it_themselves(either, people):
    _, _, tess = people
    course = await create(tess, exam=True)
    page = (await tess.get(f"/courses/{course['id']}", headers=HTML)).text
    assert "Closed to its students: hints, editorial, giving up and solutions." in page
    assert "Visitors and accounts outside the course still see all of that." in page
    assert "use a problem that only this course sees." in page
    assert (await reads(tess))["hints on the page"]
