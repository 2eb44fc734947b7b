"""Columns that this service creates in the platform's gradebook."""

import anyio
import pytest

from tests.app.accounts.people import browser
from tests.app.teaching.courses.test_courses import create
from tests.app.teaching.lti.platform import ENDPOINT, LTI, ROLE
from tests.app.teaching.lti.test_course import connect, tess, until
from tests.app.teaching.lti.test_launch import first_launch
from tests.app.teaching.people.test_attempts_of_others import GOOD, send

__all__ = ["tess"]
pytestmark = pytest.mark.anyio
SCOPES = [f"https://purl.imsglobal.org/spec/lti-ags/scope/{each}" for each in ("lineitem", "score")]


def no_column(platform, scopes=SCOPES) -> dict:
    return {ENDPOINT: {"scope": scopes, "lineitems": f"{platform.address}/items"}}


async def test_a_link_without_a_column_gets_one(school, platform):
    teacher = {"sub": "teacher-1", "name": "Tess", f"{LTI}roles": [f"{ROLE}Instructor"]}
    async with browser(school) as http:
        await first_launch(school, platform, http, teacher | no_column(platform))
    assert platform.items == [
        {
            "label": "Add one",
            "scoreMaximum": 100,
            "resourceId": "add_one",
            "tag": "problem",
            "resourceLinkId": "link-1",
            "submissionReview": {"reviewableStatus": ["Submitted"]},
            "id": f"{platform.address}/items/new0",
        }
    ]
    async with browser(school) as ada:
        await first_launch(school, platform, ada, no_column(platform))
        assert len(platform.items) == 1
        await send(school, ada, GOOD)
        await until(lambda: platform.scores, "the score")
    [(item, score)] = platform.scores
    assert (item, score["scoreGiven"]) == ("new0?", 100)


async def test_the_first_student_of_a_link_gets_a_score_too(school, platform):
    async with browser(school) as ada:
        await first_launch(school, platform, ada, no_column(platform))
        await send(school, ada, GOOD)
        await until(lambda: platform.scores, "the score")
    assert len(platform.items) == 1


async def test_the_column_of_an_assignment_has_its_points_and_times(school, platform, tess):
    course = await create(tess, late_percent=10)
    async with browser(school) as http:
        await first_launch(school, platform, http)
    await connect(tess, course)
    [week] = (await tess.get(f"/api/v1/courses/{course['id']}/assignments")).json()["assignments"]
    address = f"http://meshgrade.test/courses/{course['id']}?assignment={week['id']}"
    async with browser(school) as bob:
        opened = {"sub": "subject-2", "name": "Bob", f"{LTI}target_link_uri": address}
        await first_launch(
            school, platform, bob, opened | {f"{LTI}resource_link": {"id": "link-2"}} | no_column(platform)
        )
    [item] = platform.items
    assert (item["label"], item["scoreMaximum"], item["resourceId"]) == ("Week 1", 50, week["id"])
    assert (item["startDateTime"], item["endDateTime"]) == (week["opens_at"], week["due_at"])


async def test_students_who_open_a_link_at_once_get_one_column(school, platform):
    async def launch(number: int) -> None:
        async with browser(school) as http:
            claims = {"sub": f"s-{number}", "name": f"Student {number}"} | no_column(platform)
            await first_launch(school, platform, http, claims)

    async with anyio.create_task_group() as group:
        for number in range(4):
            group.start_soon(launch, number)
    assert len(platform.items) == 1


async def test_no_column_is_created_without_the_scope_or_for_another_page(school, platform):
    async with browser(school) as ada:
        await first_launch(school, platform, ada, no_column(platform, SCOPES[1:]))
    async with browser(school) as bob:
        elsewhere = {"sub": "subject-2", f"{LTI}target_link_uri": "http://meshgrade.test/problems"}
        await first_launch(school, platform, bob, elsewhere | no_column(platform))
    assert platform.items == []


async def test_a_platform_that_refuses_a_column_still_opens_the_page(school, platform):
    platform.refusals = [500]
    async with browser(school) as ada:
        answer = await first_launch(school, platform, ada, no_column(platform))
        assert answer.headers["location"] == "/problems/add_one"
        assert platform.items == []
        assert (await platform.launch(ada, claims=no_column(platform))).status_code == 303
    assert len(platform.items) == 1
