"""A course of a platform: its roster, what it links to, and the scores that return."""

import html
import re
import time
from datetime import timedelta

import anyio
import pytest
from joserfc import jwt
from joserfc.jwk import KeySet
from sqlalchemy import select

from app.accounts.service import Accounts
from app.core.clock import MINUTE, end_of_minute, now
from app.core.database import Database
from app.grading.queue.withheld_verdicts import WithheldRow
from app.teaching.lti.keys import AFTER_USE, UNTIL_USE, ToolKeys
from app.teaching.lti.models import ScoreRow
from tests.app.accounts.people import SITE, browser, form_token, send_form, sign_up
from tests.app.teaching.courses.test_courses import create, join
from tests.app.teaching.lti.platform import CLIENT_ID, DEPLOYMENT, DL, ENDPOINT, LTI, ROLE
from tests.app.teaching.lti.test_launch import confirm, first_launch
from tests.app.teaching.people.test_attempts_of_others import GOOD, send

pytestmark = pytest.mark.anyio
JSON = SITE | {"Accept": "application/json"}


async def until(condition, what: str) -> None:
    with anyio.move_on_after(60):
        while not condition():
            await anyio.sleep(0.02)
        return
    raise AssertionError(f"{what} did not arrive")


@pytest.fixture
async def tess(school):
    async with browser(school) as http:
        await sign_up(school, http, "tess", "instructor")
        yield http


async def connect(tess, course: dict) -> str:
    """Connect the platform's only course. Returns the address of the page."""
    page = f"/courses/{course['id']}/lti"
    address = re.search(rf'action="({page}/\w+/connect)"', (await tess.get(page)).text)[1]
    assert (await send_form(tess, page, address)).status_code == 303
    return page


async def test_scores_return_and_are_sent_again_until_they_arrive(school, platform, tess):
    async with browser(school) as ada:
        await first_launch(school, platform, ada)
        assert platform.scores == []
        platform.refusals = [503, 500]
        await send(school, ada, GOOD)
        await until(lambda: platform.scores, "the score")
    [(item, score)] = platform.scores
    assert item == "1?type=2"
    timestamp = score.pop("timestamp")
    assert timestamp.endswith("Z")
    assert score == {
        "userId": "subject-1",
        "scoreGiven": 100,
        "scoreMaximum": 100,
        "activityProgress": "Submitted",
        "gradingProgress": "FullyGraded",
    }


async def test_an_exam_sends_no_score_before_it_has_closed(school, platform, tess):
    async with browser(school) as ada:
        await first_launch(school, platform, ada)
        await join(ada, await create(tess, exam=True))
        await send(school, ada, GOOD)
        database = school.services[Database]
        with anyio.fail_after(60):
            while True:
                async with database.reading() as session:
                    [score] = await session.scalars(select(ScoreRow))
                    [hidden] = await session.scalars(select(WithheldRow))
                if score.next_try_at == end_of_minute(hidden.until) and score.fence_token is None:
                    break
                await anyio.sleep(0.02)
        assert platform.scores == []
        async with database.writing() as session:
            (await session.get_one(ScoreRow, score.id)).next_try_at = now()
            (await session.get_one(WithheldRow, (hidden.attempt_id, hidden.assignment_id))).until = now() - MINUTE
        await until(lambda: platform.scores, "the score")


async def test_what_is_given_up_is_shown_and_can_be_sent_again(school, platform, tess):
    async with browser(school) as ada:
        await first_launch(school, platform, ada)
        page = await connect(tess, await create(tess))
        platform.refusals = [500] * 3
        await send(school, ada, GOOD)
        await until(lambda: not platform.refusals, "the last try")
        with anyio.move_on_after(60):
            while "<td>1</td><td>HTTP 500</td>" not in (await tess.get(page)).text:
                await anyio.sleep(0.05)
        assert "<td>1</td><td>HTTP 500</td>" in (await tess.get(page)).text
        assert (await send_form(tess, page, f"{page}/scores")).status_code == 303
        await until(lambda: platform.scores, "the score")


async def test_an_assignment_is_chosen_opened_and_scored(school, platform, tess):
    course = await create(tess, late_percent=10)
    async with browser(school) as http:
        await first_launch(school, platform, http)
    await connect(tess, course)
    async with browser(school) as teacher:
        page = await platform.launch(teacher, claims=platform.selection())
        there = (await confirm(teacher, page.text)).headers["location"]
        assert there.startswith("/lti/selections/")
        choice = html.unescape(re.search(r'value="(assignment \w+)"', (await teacher.get(there)).text)[1])
        refused = await send_form(teacher, there, there, choice="problem no_such")
        assert (refused.status_code, "no_such" in refused.text) == (404, True)
        back = await send_form(teacher, there, there, choice=choice)
        assert f"form-action 'self' {platform.address};" in back.headers["content-security-policy"]
        assert f'action="{platform.address}/return"' in back.text
        token = re.search(r'name="JWT" value="([^"]+)"', back.text)[1]
        claims = jwt.decode(token, KeySet.import_key_set(platform.tool_keys), algorithms=["RS256"]).claims
        assert (claims["iss"], claims["aud"], claims[f"{DL}data"]) == (CLIENT_ID, platform.address, "opaque")
        assert claims[f"{LTI}deployment_id"] == DEPLOYMENT
        assert claims[f"{LTI}message_type"] == "LtiDeepLinkingResponse"
        assert claims["exp"] > time.time()
        [item] = claims[f"{DL}content_items"]
        assert item["lineItem"] == {
            "scoreMaximum": 50,
            "label": "Week 1",
            "submissionReview": {"reviewableStatus": ["Submitted"]},
        }
        assert item["window"] == {"targetName": "_blank"}
        [week] = (await tess.get(f"/api/v1/courses/{course['id']}/assignments")).json()["assignments"]
        assert item["available"] == {"startDateTime": week["opens_at"]}
        assert item["submission"] == {"startDateTime": week["opens_at"], "endDateTime": week["due_at"]}
    async with browser(school) as other:
        await sign_up(school, other, "eve", "instructor")
        assert (await other.get(there)).status_code == 404
    async with browser(school) as bob:
        opened = {"sub": "subject-2", "name": "Bob", f"{LTI}target_link_uri": item["url"]}
        resource = {f"{LTI}resource_link": {"id": "link-2"}, ENDPOINT: {"lineitem": f"{platform.address}/items/2"}}
        answer = await first_launch(school, platform, bob, opened | resource)
        assert answer.headers["location"].startswith(f"/courses/{course['id']}#a-")
        assert (await bob.get(f"/courses/{course['id']}")).status_code == 200
        await send(school, bob, GOOD)
        # Also for the link to the problem, because he is a student of the connected course.
        await until(lambda: len(platform.scores) == 2, "the scores")
    points = {item: (score["scoreGiven"], score["scoreMaximum"]) for item, score in platform.scores}
    assert points == {"1?type=2": (100, 100), "2?": (50, 50)}


async def test_several_items_are_chosen_at_once_if_the_platform_takes_them(school, platform, tess):
    course = await create(tess)
    async with browser(school) as http:
        await first_launch(school, platform, http)
    await connect(tess, course)
    settings = {"deep_link_return_url": f"{platform.address}/return", "accept_multiple": True}
    async with browser(school) as teacher:
        page = await platform.launch(teacher, claims=platform.selection(**{f"{DL}deep_linking_settings": settings}))
        there = (await confirm(teacher, page.text)).headers["location"]
        form = (await teacher.get(there)).text
        assignment = re.search(r'type="checkbox" name="(assignment \w+)"', form)[1]
        nothing = await send_form(teacher, there, there)
        assert (nothing.status_code, "Choose 1 to 50" in nothing.text) == (422, True)
        wrong = await send_form(teacher, there, there, **{assignment: "yes", "problem no_such": "yes"})
        assert (wrong.status_code, f'name="{assignment}" value="yes" checked' in wrong.text) == (404, True)
        back = await send_form(teacher, there, there, **{assignment: "yes", "problem add_one": "yes"})
        token = re.search(r'name="JWT" value="([^"]+)"', back.text)[1]
        claims = jwt.decode(token, KeySet.import_key_set(platform.tool_keys), algorithms=["RS256"]).claims
        first, second = claims[f"{DL}content_items"]
        assert (first["title"], second["url"]) == ("Week 1", "http://meshgrade.test/problems/add_one")
        assert second["lineItem"]["scoreMaximum"] == 100
        assert "submission" not in second


@pytest.mark.parametrize("several", [True, False])
@pytest.mark.parametrize(("setting", "named"), [({"accept_lineitem": False}, False), ({"accept_lineitem": True}, True)])
async def test_a_choice_names_no_columns_if_the_platform_makes_none(school, platform, tess, several, setting, named):
    course = await create(tess)
    async with browser(school) as http:
        await first_launch(school, platform, http)
    await connect(tess, course)
    wish = {"deep_link_return_url": f"{platform.address}/return", "accept_multiple": several} | setting
    async with browser(school) as teacher:
        page = await platform.launch(teacher, claims=platform.selection(**{f"{DL}deep_linking_settings": wish}))
        there = (await confirm(teacher, page.text)).headers["location"]
        form = (await teacher.get(there)).text
        assert ("without a column for scores" in form) is not named
        # A form that was refused and is sent again keeps to what the platform said.
        address = html.unescape(re.search(r'action="(/lti/selections/[^"]+)"', form)[1])
        assignment = re.search(r'(assignment [0-9a-f]{32})"', form)[1]
        chosen = {assignment: "yes", "problem add_one": "yes"} if several else {"choice": assignment}
        assert address == there
        token = {"form_token": form_token(form)}
        wrong = token | {"choice": "problem no_such", "problem no_such": "yes"}
        refused = await teacher.post(there, data=wrong, headers=SITE)
        assert (refused.status_code, address in html.unescape(refused.text)) == (404, True)
        back = await teacher.post(there, data=token | chosen, headers=SITE)
        token = re.search(r'name="JWT" value="([^"]+)"', back.text)[1]
        claims = jwt.decode(token, KeySet.import_key_set(platform.tool_keys), algorithms=["RS256"]).claims
    items = claims[f"{DL}content_items"]
    assert (len(items), items[0]["title"]) == (2 if several else 1, "Week 1")
    assert [("lineItem" in each) for each in items] == [named] * len(items)
    assert "submission" in items[0]


async def test_students_choose_nothing(school, platform):
    async with browser(school) as http:
        learner = platform.selection(**{f"{LTI}roles": [f"{ROLE}Learner"]})
        page = await platform.launch(http, claims=learner)
        refused = await confirm(http, page.text)
        assert (refused.status_code, "Only teachers of the course can choose" in refused.text) == (403, True)


async def test_a_roster_joins_the_course_and_solves_count_before_the_first_launch(school, platform, tess):
    async with browser(school) as ada:
        await first_launch(school, platform, ada)
    course = await create(tess)
    page = await connect(tess, course)
    platform.pages = [
        [
            {"user_id": "subject-1", "name": "Ada Lovelace", "roles": ["Learner"]},
            {"user_id": "s-2", "name": "Bob", "roles": [f"{ROLE}Learner"], "status": "Active"},
            {"user_id": "s-3", "name": "Gone", "roles": ["Learner"], "status": "Inactive"},
            {"user_id": "t-1", "name": "Tess", "roles": ["Instructor"]},
            {"user_id": 7, "roles": ["Learner"]},
        ],
        [{"user_id": "a-1", "name": "Tim", "roles": ["Instructor", "TeachingAssistant"]}],
    ]
    roster = re.search(rf'action="({page}/\w+/roster)"', (await tess.get(page)).text)[1]
    for joined, created in ((3, 2), (0, 0)):
        answer = (await send_form(tess, page, roster)).text
        assert f"{joined} joined the course, {created} of them with a new account" in re.sub(r"\s+", " ", answer)
    people = (await tess.get(f"/courses/{course['id']}")).text
    for name in ("ada-lovelace", "bob", "tim"):
        assert f">{name}</a>" in people
    assert ">gone</a>" not in people
    async with browser(school) as bob:
        # Not by the link: a launch without a column, in the same course.
        claims = {"sub": "s-2", f"{LTI}resource_link": {"id": "link-9"}}
        assert (await platform.launch(bob, claims=claims | {ENDPOINT: None})).status_code == 303
        await send(school, bob, GOOD)
        await until(lambda: platform.scores, "the score")
    assert platform.scores[0][1]["userId"] == "s-2"
    cut = re.search(rf'action="({page}/\w+/disconnect)"', (await tess.get(page)).text)[1]
    assert (await send_form(tess, page, cut)).status_code == 303
    wrong = await tess.post(cut, data={"form_token": form_token((await tess.get(page)).text)}, headers=SITE)
    assert wrong.status_code == 404


async def test_a_roster_that_is_no_roster_changes_nothing(school, platform, tess):
    async with browser(school) as ada:
        await first_launch(school, platform, ada)
    page = await connect(tess, await create(tess))
    platform.pages = ["not a list"]  # type: ignore[list-item]
    roster = re.search(rf'action="({page}/\w+/roster)"', (await tess.get(page)).text)[1]
    refused = await send_form(tess, page, roster)
    assert (refused.status_code, "has no list of members" in refused.text) == (502, True)


async def test_keys_are_rotated_and_the_old_one_stays_published(school, platform, monkeypatch):
    keys = school.services[ToolKeys]
    owner = await school.services[Accounts].ensure_owner()
    first = await keys.signing()
    second = await keys.rotate(owner)
    assert [each["kid"] for each in (await keys.published())["keys"]] == [first.kid, second]
    assert not [name for each in (await keys.published())["keys"] for name in ("d", "p", "q") if name in each]
    assert (await keys.signing()).kid == first.kid
    start = now()
    monkeypatch.setattr("app.teaching.lti.keys.now", lambda: start + UNTIL_USE + timedelta(seconds=1))
    assert (await keys.signing()).kid == second
    assert len((await keys.published())["keys"]) == 2
    monkeypatch.setattr("app.teaching.lti.keys.now", lambda: start + UNTIL_USE + AFTER_USE + timedelta(seconds=1))
    assert [each["kid"] for each in (await keys.published())["keys"]] == [second]
    monkeypatch.setattr("app.teaching.lti.keys.now", lambda: start + timedelta(days=91))
    await keys.signing()
    assert len((await keys.published())["keys"]) == 2


async def test_the_private_keys_are_not_in_the_database(school):
    from sqlalchemy import select

    from app.teaching.lti.models import KeyRow

    key = await school.services[ToolKeys].signing()
    async with school.services[Database].reading() as session:
        [row] = await session.scalars(select(KeyRow))
    assert key.as_dict(private=True)["d"] not in row.sealed
    assert row.sealed.count(".") == 4
