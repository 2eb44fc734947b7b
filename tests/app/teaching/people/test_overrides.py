"""Points of an attempt that are changed by hand: who does it, where they count, and how they are changed back."""

import csv
import io
import json
import re

import pytest
from sqlalchemy import select

from app.core.database import Database
from app.grading.queue.models import AttemptRow
from app.grading.queue.score_overrides import OverrideRow
from tests.app.accounts.people import SITE, browser, sign_in, sign_up
from tests.app.teaching.courses.test_assistants import appoint
from tests.app.teaching.courses.test_courses import create, join
from tests.app.teaching.people.test_attempts_of_others import GOOD, me, send
from tests.app.teaching.people.test_comments import post

pytestmark = pytest.mark.anyio
WRONG = "def add_one(x):\n    return x\n"
NEW = {"score": 80, "reason": "the statement did not name this rule"}


@pytest.fixture
async def people(either):
    """Their browsers by name: two students, an instructor and the owner."""
    await sign_in(either)
    async with browser(either) as ada, browser(either) as bob, browser(either) as tess:
        await sign_up(either, ada, "ada")
        await sign_up(either, bob, "bob")
        await sign_up(either, tess, "tess", "instructor")
        yield {"ada": ada, "bob": bob, "tess": tess, "owner": either.http}


@pytest.fixture
async def wrong(either, people) -> tuple[str, str]:
    """Ada's id, and that of a rejected attempt of hers."""
    return await me(people["ada"]), await send(either, people["ada"], WRONG)


def page_of(attempt: tuple[str, str]) -> str:
    return "/people/{}/attempts/{}".format(*attempt)


def theirs(attempt: tuple[str, str]) -> str:
    return f"/api/v1{page_of(attempt)}/override"


async def read(http, attempt: tuple[str, str]) -> dict:
    return (await http.get(f"/api/v1/attempts/{attempt[1]}")).json()


async def points(http, course: dict) -> float | None:
    [line] = (await http.get(f"/api/v1/courses/{course['id']}/gradebook")).json()["students"]
    return line["cells"][0]["points"]


async def test_new_points_count_until_they_are_undone(either, people, wrong):
    ada, tess = people["ada"], people["tess"]
    course = await create(tess)
    await join(ada, course)
    before = await read(ada, wrong)
    assert (before["score"], before["override"]) == (0, None)
    changed = await tess.put(theirs(wrong), json=NEW, headers=SITE)
    assert changed.status_code == 200, changed.text
    after = await read(ada, wrong)
    assert after["override"] == changed.json()
    assert after["override"] | {"at": ""} == NEW | {"score_before": 0, "by": "tess", "at": ""}
    assert (after["score"], after["verdict"]) == (80, before["verdict"])
    assert await points(tess, course) == 40  # 80 of 100, of the 50 points of the problem
    [progress] = (await ada.get("/api/v1/me/progress")).json()["problems"]
    assert progress == {"problem": "add_one", "best_score": 80, "accepted": False}
    # A further change replaces it, and names the points of the verdict again.
    again = await tess.put(theirs(wrong), json={"score": 100, "reason": "more"}, headers=SITE)
    assert (again.json()["score"], again.json()["score_before"]) == (100, 0)
    assert (await tess.delete(theirs(wrong), headers=SITE)).status_code == 204
    assert await read(ada, wrong) == before
    assert await points(tess, course) == 0
    gone = await tess.delete(theirs(wrong), headers=SITE)
    assert (gone.status_code, gone.json()["slug"]) == (404, "override-not-found")


async def cell(http, course: dict) -> dict:
    [line] = (await http.get(f"/api/v1/courses/{course['id']}/gradebook")).json()["students"]
    return line["cells"][0]


async def last_column(http, course: dict) -> str:
    text = (await http.get(f"/courses/{course['id']}/gradebook.csv")).text
    [_, line] = csv.reader(io.StringIO(text.removeprefix("\ufeff")))
    return line[-1]


async def test_changed_points_have_a_mark_wherever_they_are_listed(either, people, wrong):
    ada, tess = people["ada"], people["tess"]
    course = await create(tess)
    await join(ada, course)
    lists = {"/attempts": ada, "/problems/add_one": ada, f"/people/{wrong[0]}/attempts": tess}
    gradebook = {f"/courses/{course['id']}/gradebook": tess, f"/courses/{course['id']}": ada}
    story = {f"/people/{wrong[0]}/problems/add_one": tess}
    # The legend of the gradebook and the page of an attempt say it in other words.
    mark = re.compile(r">changed by hand<")

    async def marks() -> dict[str, int]:
        pages = lists | gradebook | story
        return {path: len(mark.findall((await http.get(path)).text)) for path, http in pages.items()}

    async def listed() -> list[bool]:
        return [each["changed_by_hand"] for each in (await ada.get("/api/v1/attempts")).json()["attempts"]]

    assert await marks() == dict.fromkeys(lists | gradebook | story, 0)
    assert await listed() == [False]
    assert not (await cell(tess, course))["changed_by_hand"]
    assert await last_column(tess, course) == ""
    await tess.put(theirs(wrong), json=NEW, headers=SITE)
    assert await marks() == dict.fromkeys(lists | gradebook | story, 1)
    assert await listed() == [True]
    assert (await cell(tess, course))["changed_by_hand"]
    assert await last_column(tess, course) == "Week 1: add_one"


@pytest.mark.parametrize(("score", "expected"), [(99, (50, False)), (100, (50, False))])
async def test_a_cell_has_no_mark_if_an_unchanged_attempt_gives_the_same_or_more(
    either, people, wrong, score, expected
):
    ada, tess = people["ada"], people["tess"]
    course = await create(tess)
    await join(ada, course)
    await tess.put(theirs(wrong), json=NEW | {"score": score}, headers=SITE)
    assert (await cell(tess, course))["changed_by_hand"]
    await send(either, ada, GOOD)
    now_counts = await cell(tess, course)
    assert (now_counts["points"], now_counts["changed_by_hand"]) == expected


async def test_a_ranking_and_acceptance_are_those_of_the_verdict(either, people):
    attempt = await me(people["ada"]), await send(either, people["ada"], GOOD)
    async with either.services[Database].writing() as session:
        (await session.get_one(AttemptRow, attempt[1])).efficiency = 120.0
    assert (await people["tess"].put(theirs(attempt), json=NEW | {"score": 0}, headers=SITE)).status_code == 200
    [progress] = (await people["ada"].get("/api/v1/me/progress")).json()["problems"]
    assert progress == {"problem": "add_one", "best_score": 0, "accepted": True}
    ranking = (await people["bob"].get("/api/v1/problems/add_one/ranking")).json()
    assert [(each["name"], each["efficiency"]) for each in ranking["places"]] == [("ada", 120.0)]


async def test_the_student_reads_who_changed_what_and_why(people, wrong):
    tess, page = people["tess"], page_of(wrong)
    assert "The verdict gives" in (await tess.get(page)).text
    done = await post(tess, page, f"{page}/override", score="80", reason="<b>fair</b>")
    assert (done.status_code, done.headers["location"]) == (303, f"{page}#points")
    shown = " ".join((await people["ada"].get(f"/attempts/{wrong[1]}")).text.split())
    assert "tess changed the points of this attempt from 0 to <strong>80</strong>" in shown
    assert "&lt;b&gt;fair&lt;/b&gt;" in shown
    assert f"{page}/override/undo" in (await tess.get(page)).text
    undone = await post(tess, page, f"{page}/override/undo")
    assert undone.headers["location"] == f"{page}#points"
    assert "changed the points" not in (await people["ada"].get(f"/attempts/{wrong[1]}")).text


async def test_who_may_change_points(either, people, wrong):
    for name, status in (("ada", 403), ("bob", 403), ("tess", 200), ("owner", 200)):
        assert (await people[name].put(theirs(wrong), json=NEW, headers=SITE)).status_code == status, name
    for name, status in (("ada", 403), ("bob", 403), ("tess", 403), ("owner", 204)):
        assert (await people[name].delete(theirs(wrong), headers=SITE)).status_code == status, name
    tess = people["tess"]
    own = await me(tess), await send(either, tess, WRONG)
    assert (await tess.put(theirs(own), json=NEW, headers=SITE)).status_code == 403


async def test_points_of_a_higher_role_are_changed_only_by_that_role(either, people, wrong):
    ada, bob, tess, owner = (people[name] for name in ("ada", "bob", "tess", "owner"))
    course = await create(tess)
    for http in (ada, bob):
        await join(http, course)
    await appoint(tess, course, await me(bob))
    page, other = page_of(wrong), NEW | {"score": 5}

    async def cannot(http, words: str) -> None:
        for answer in (
            await http.put(theirs(wrong), json=other, headers=SITE),
            await http.delete(theirs(wrong), headers=SITE),
        ):
            assert (answer.status_code, answer.json()["slug"]) == (403, "role-missing")
            assert answer.json()["detail"] == words
        shown = (await http.get(page)).text
        assert words in shown
        assert f"{page}/override" not in shown
        assert (await read(ada, wrong))["score"] == 80

    def given_by(who: str, only: str) -> str:
        return f"These points were given by {who}, so only {only} can change or undo them."

    assert (await tess.put(theirs(wrong), json=NEW, headers=SITE)).status_code == 200
    await cannot(bob, given_by("an instructor", "instructors and owners"))
    assert (await owner.put(theirs(wrong), json=NEW | {"reason": "seen"}, headers=SITE)).status_code == 200
    for http in (bob, tess):
        await cannot(http, given_by("an owner", "owners"))
    # A page that was opened before still has the form.
    refused = await post(bob, page, f"{page}/override/undo")
    assert (refused.status_code, "given by an owner" in refused.text) == (403, True)
    # Those of an assistant are changed by everyone who grades.
    assert (await owner.delete(theirs(wrong), headers=SITE)).status_code == 204
    assert (await bob.put(theirs(wrong), json=other, headers=SITE)).status_code == 200
    assert (await tess.put(theirs(wrong), json=NEW, headers=SITE)).status_code == 200
    entries = (await owner.get("/api/v1/audit?limit=5")).json()["entries"]
    assert [each["detail"].split(",")[0] for each in entries if each["action"] == "score-changed"] == [
        "5 points by an assistant to 80 points",
        "0 points to 5 points",
        "80 points by an owner to 0 points",
        "80 points by an instructor to 80 points",
        "0 points to 80 points",
    ]
    # It may have been an instructor, so an assistant does not decide.
    assert (await tess.delete("/api/v1/me?name=tess", headers=SITE)).status_code == 204
    await cannot(bob, given_by("someone whose account was deleted", "instructors and owners"))


async def test_the_audit_log_has_it(people, wrong):
    await people["tess"].put(theirs(wrong), json=NEW, headers=SITE)
    await people["owner"].delete(theirs(wrong), headers=SITE)
    entries = (await people["owner"].get("/api/v1/audit?limit=2")).json()["entries"]
    where = f"attempt {wrong[1]} at add_one"
    assert [(each["action"], each["actor"]["name"], each["whom"]["name"]) for each in entries] == [
        ("score-changed", "owner", "ada"),
        ("score-changed", "tess", "ada"),
    ]
    assert [(each["detail"], each["reason"]) for each in entries] == [
        (f"80 points by an instructor to 0 points, {where}", ""),
        (f"0 points to 80 points, {where}", NEW["reason"]),
    ]
    assert "changed the points of an attempt" in (await people["owner"].get("/audit")).text


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (NEW | {"reason": " "}, "reason: must be one line of 1 to 200 characters."),
        (NEW | {"score": 101}, "score"),
        ({"score": 80}, "reason"),
    ],
    ids=["reason", "many", "missing"],
)
async def test_what_is_wrong_with_a_change(people, wrong, body, says):
    answer = await people["tess"].put(theirs(wrong), json=body, headers=SITE)
    assert answer.status_code == 422
    assert says in answer.text


async def test_the_points_of_the_verdict_are_no_change(people, wrong):
    answer = await people["tess"].put(theirs(wrong), json=NEW | {"score": 0}, headers=SITE)
    assert (answer.status_code, answer.json()["slug"]) == (409, "override-refused")
    assert answer.json()["detail"] == "0 is what the verdict gives. Enter different points, or undo the change."


async def test_a_refused_form_keeps_what_was_typed(people, wrong):
    page = page_of(wrong)
    for score, reason, says in (
        ("much", "KEEP-ME", "score: must be a whole number."),
        ("999", "KEEP-ME", "score: must be at most 100."),
        ("80", "", "reason: is required."),
    ):
        answer = await post(people["tess"], page, f"{page}/override", score=score, reason=reason)
        assert answer.status_code == 422
        assert says in answer.text
        assert f'value="{reason or score}"' in answer.text


async def test_only_an_attempt_that_counts_has_points(either, people, wrong):
    run = wrong[0], await send(either, people["ada"], WRONG, "runs")
    answer = await people["tess"].put(theirs(run), json=NEW, headers=SITE)
    assert (answer.status_code, answer.json()["slug"]) == (409, "override-refused")
    assert "A run has no points" in answer.text
    await people["ada"].post("/api/v1/problems/add_one/give-up", json={"confirm": True}, headers=SITE)
    late = wrong[0], await send(either, people["ada"], GOOD)
    answer = await people["tess"].put(theirs(late), json=NEW, headers=SITE)
    assert (answer.status_code, "after giving up" in answer.text) == (409, True)
    assert 'id="points"' not in (await people["tess"].get(page_of(late))).text
    async with either.services[Database].writing() as session:
        row = await session.get_one(AttemptRow, wrong[1])
        row.status, row.verdict, row.score = "queued", None, None
        row.not_before = row.created_at.replace(year=2100)
    answer = await people["tess"].put(theirs(wrong), json=NEW, headers=SITE)
    assert (answer.status_code, "It has no verdict" in answer.text) == (409, True)


async def test_an_attempt_that_the_judge_could_not_grade_can_get_points(either, people, wrong):
    async with either.services[Database].writing() as session:
        row = await session.get_one(AttemptRow, wrong[1])
        row.verdict = {**row.verdict, "status": "failed", "score": None, "reason": None}
        row.score = row.verdict_reason = row.faults = None
        row.verdict_status = "failed"
    changed = (await people["tess"].put(theirs(wrong), json=NEW, headers=SITE)).json()
    assert (changed["score"], changed["score_before"]) == (80, None)
    shown = " ".join((await people["ada"].get(f"/attempts/{wrong[1]}")).text.split())
    assert "from none to <strong>80</strong>" in shown
    await people["tess"].delete(theirs(wrong), headers=SITE)
    assert (await read(people["ada"], wrong))["score"] is None


async def test_it_is_exported_and_goes_with_the_student_but_not_with_its_author(either, people, wrong):
    await people["tess"].put(theirs(wrong), json=NEW, headers=SITE)
    for name in ("ada", "tess"):
        exported = json.loads((await people[name].get("/api/v1/me/export")).text)
        [override] = exported["score_overrides"]
        assert (override["score"], override["reason"]) == (80, NEW["reason"]), name
    assert (await people["tess"].delete("/api/v1/me?name=tess", headers=SITE)).status_code == 204
    found = await read(people["ada"], wrong)
    assert (found["score"], found["override"]["by"]) == (80, None)
    assert "Someone whose account was deleted" in (await people["ada"].get(f"/attempts/{wrong[1]}")).text
    await people["ada"].delete("/api/v1/me?name=ada", headers=SITE)
    async with either.services[Database].reading() as session:
        assert (await session.scalars(select(OverrideRow))).all() == []


async def test_an_exam_hides_it_until_it_has_closed(people, either):
    ada, tess = people["ada"], people["tess"]
    course = await create(tess, exam=True)
    await join(ada, course)
    attempt = await me(ada), await send(either, ada, WRONG)
    assert (await tess.put(theirs(attempt), json=NEW, headers=SITE)).status_code == 200
    found = await read(ada, attempt)
    assert (found["score"], found["override"], found["withheld_until"] is None) == (None, None, False)
    assert "changed the points" not in (await ada.get(f"/attempts/{attempt[1]}")).text
    exported = json.loads((await ada.get("/api/v1/me/export")).text)
    assert exported["score_overrides"] == []
    assert "score-changed" not in {each["action"] for each in exported["audit_log"]}
    assert (await tess.get(f"/api/v1{page_of(attempt)}")).json()["override"]["score"] == 80
