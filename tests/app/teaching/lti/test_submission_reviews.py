"""A platform opens a student's submission from its gradebook."""

import html

import pytest

from tests.app.accounts.people import browser
from tests.app.teaching.courses.test_courses import create
from tests.app.teaching.lti.platform import ENDPOINT, LTI, ROLE
from tests.app.teaching.lti.test_course import connect, tess
from tests.app.teaching.lti.test_launch import confirm, first_launch
from tests.app.teaching.people.test_attempts_of_others import GOOD, send

__all__ = ["tess"]
pytestmark = pytest.mark.anyio


def review(platform, *, of: str, item: str = "1?type=2", **changes) -> dict:
    """The changes that make a message to review the submission of a user, by a teacher."""
    return {
        "sub": "teacher-1",
        "name": "Tom",
        f"{LTI}message_type": "LtiSubmissionReviewRequest",
        f"{LTI}for_user": {"user_id": of},
        f"{LTI}roles": [f"{ROLE}Instructor"],
        f"{LTI}resource_link": None,
        f"{LTI}target_link_uri": "http://meshgrade.test/lti/launch",
        ENDPOINT: {"lineitem": f"{platform.address}/items/{item}"},
    } | changes


async def test_a_teacher_opens_the_attempts_of_a_student_at_the_problem(school, platform, tess):
    async with browser(school) as ada, browser(school) as tom:
        await first_launch(school, platform, ada)
        await send(school, ada, GOOD)
        me = (await ada.get("/api/v1/me")).json()["id"]
        course = await create(tess)
        await connect(tess, course)
        # The course has to know her as a student: its assistants read nobody else.
        assert (await platform.launch(ada)).status_code == 303
        page = await platform.launch(tom, claims=review(platform, of="subject-1"))
        there = (await confirm(tom, page.text)).headers["location"]
        assert there == f"/people/{me}/attempts?among=add_one"
        shown = await tom.get(there)
        assert (shown.status_code, f"/people/{me}/attempts/" in shown.text) == (200, True)
        other = await tom.get(f"/people/{me}/attempts", params={"among": "row_sums"})
        assert "No attempt matches" in other.text


async def test_all_problems_of_an_assignment_are_shown(school, platform, tess):
    course = await create(tess)
    async with browser(school) as http:
        await first_launch(school, platform, http)
    await connect(tess, course)
    [week] = (await tess.get(f"/api/v1/courses/{course['id']}/assignments")).json()["assignments"]
    address = f"http://meshgrade.test/courses/{course['id']}?assignment={week['id']}"
    async with browser(school) as bob, browser(school) as tom:
        opened = {
            "sub": "s-2",
            "name": "Bob",
            f"{LTI}target_link_uri": address,
            f"{LTI}resource_link": {"id": "link-2"},
        }
        await first_launch(school, platform, bob, opened | {ENDPOINT: {"lineitem": f"{platform.address}/items/2"}})
        page = await platform.launch(tom, claims=review(platform, of="s-2", item="2"))
        there = (await confirm(tom, page.text)).headers["location"]
        problems = ",".join(each["problem"] for each in week["problems"])
        assert there.endswith(f"/attempts?among={problems}".replace(",", "%2C"))
        assert (await tom.get(there)).status_code == 200


async def test_a_student_sees_their_own_whatever_the_message_says(school, platform):
    async with browser(school) as ada, browser(school) as bob:
        await first_launch(school, platform, ada)
        await send(school, ada, GOOD)
        learner = {"sub": "s-2", "name": "Bob", f"{LTI}roles": [f"{ROLE}Learner"]}
        answer = await first_launch(school, platform, bob, review(platform, of="subject-1", **learner))
        assert answer.headers["location"] == "/attempts?among=add_one"
        shown = html.unescape((await bob.get(answer.headers["location"])).text)
        assert "No attempt" in shown


async def test_a_teacher_who_may_not_read_the_student_reads_nothing(school, platform):
    """Without a connected course, a teacher of the platform is a student here."""
    async with browser(school) as ada, browser(school) as tom:
        await first_launch(school, platform, ada)
        answer = await first_launch(school, platform, tom, review(platform, of="subject-1"))
        assert (await tom.get(answer.headers["location"])).status_code == 403


async def test_a_student_without_an_account_has_no_submission(school, platform):
    async with browser(school) as tom:
        page = await platform.launch(tom, claims=review(platform, of="nobody"))
        refused = await confirm(tom, page.text)
        assert (refused.status_code, "has no account here yet" in refused.text) == (403, True)
