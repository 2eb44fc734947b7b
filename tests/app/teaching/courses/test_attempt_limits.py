"""Attempt limits, pauses and extensions: what is refused, with which words, and what still goes."""

from datetime import datetime, timedelta

import pytest

from app.core.clock import now
from app.core.database import Database
from app.grading.queue.models import AttemptRow
from tests.app.accounts.people import send_form
from tests.app.teaching.courses.test_assignments import only_assignment
from tests.app.teaching.courses.test_courses import JSON, at, changes_in, create, join, people
from tests.app.teaching.people.test_attempts_of_others import GOOD, me, send

pytestmark = pytest.mark.anyio
__all__ = ["people"]


async def try_again(http, kind: str = "attempts"):
    return await http.post(f"/api/v1/problems/add_one/{kind}?wait=60", json={"source": GOOD}, headers=JSON)


async def shift(either, attempt_id: str, **distance: float) -> None:
    async with either.services[Database].writing() as session:
        row = await session.get_one(AttemptRow, attempt_id)
        row.created_at = now() + timedelta(**distance)


async def test_after_the_last_attempt_only_runs_are_possible(either, people):
    ada, bob, tess = people
    course = await create(tess, attempt_limit=2)
    await join(ada, course)
    early = await send(either, ada, "x = 1\n")
    await shift(either, early, days=-2)  # before it opened
    failed = await send(either, ada, "x = 2\n")
    async with either.services[Database].writing() as session:
        (await session.get_one(AttemptRow, failed)).verdict_status = "failed"
    for number in range(2):
        assert (await try_again(ada)).status_code == 200, number
    refused = await try_again(ada)
    problem = refused.json()
    assert (refused.status_code, problem["slug"]) == (403, "no-attempts-left")
    for words in ("all 2 attempts", "'Week 1' of 'JAX'", "(UTC)", "You can still run your code", "ask your instructor"):
        assert words in problem["detail"]
    due = (await only_assignment(tess, course))["due_at"]
    assert datetime.fromisoformat(problem["closes_at"]) == datetime.fromisoformat(due)
    assert (await try_again(ada, "runs")).status_code == 200
    for free in (bob, tess):  # not in the course, and an instructor
        for _ in range(3):
            assert (await try_again(free)).status_code == 200
    batch = {"items": [{"problem": "add_one", "kind": "attempt", "source": GOOD}]}
    [item] = (await ada.post("/api/v1/batch/attempts", json=batch, headers=JSON)).json()["items"]
    assert item["error"]["slug"] == "no-attempts-left"


async def test_an_idempotent_repetition_is_not_another_attempt(either, people):
    ada, _, tess = people
    course = await create(tess, attempt_limit=1)
    await join(ada, course)
    answers = [
        await ada.post(
            "/api/v1/problems/add_one/attempts?wait=60", json={"source": GOOD}, headers=JSON | {"Idempotency-Key": "k"}
        )
        for _ in range(2)
    ]
    assert [each.status_code for each in answers] == [200, 200]
    assert answers[0].json()["id"] == answers[1].json()["id"]


async def test_after_the_deadline_nothing_is_limited(either, people):
    ada, _, tess = people
    course = await create(tess, attempt_limit=1, opens=at(days=-3), due=at(days=-1))
    await join(ada, course)
    for _ in range(2):
        assert (await try_again(ada)).status_code == 200
    # While late attempts count, the limit holds.
    late = await create(tess, attempt_limit=1, opens=at(days=-3), due=at(days=-1), late_percent=10)
    await join(ada, late)
    assert (await try_again(ada)).json()["slug"] == "no-attempts-left"


async def test_a_pause_says_when_the_next_attempt_is_possible(either, people):
    ada, _, tess = people
    course = await create(tess, cool_down_minutes=10)
    await join(ada, course)
    first = await send(either, ada, GOOD)
    refused = await try_again(ada)
    assert (refused.status_code, refused.json()["slug"]) == (429, "cool-down")
    assert 590 <= int(refused.headers["retry-after"]) <= 600
    for words in ("a pause of 10 min", "Submit again in 10 min", "(UTC) or later", "Until then, you can run your code"):
        assert words in refused.json()["detail"]
    await shift(either, first, minutes=-11)
    assert (await try_again(ada)).status_code == 200


async def test_one_student_gets_more_time_and_attempts_and_the_audit_log_says_why(either, people):
    ada, bob, tess = people
    course = await create(tess, attempt_limit=1)
    for http in (ada, bob):
        await join(http, course)
    assignment = await only_assignment(tess, course)
    here = f"/courses/{course['id']}/assignments/{assignment['id']}"
    more = {"person": await me(ada), "extra_minutes": "120", "extra_attempts": "1", "reason": "was ill"}
    assert (await send_form(tess, f"{here}/extensions", f"{here}/extend", **more)).status_code == 303
    page = (await ada.get(f"/courses/{course['id']}")).text
    for words in ("120 min and 1 attempt more than others: was ill", "2 attempts at each problem"):
        assert words in page
    assert "more than others" not in (await bob.get(f"/courses/{course['id']}")).text
    late = await send(either, ada, GOOD)
    assert (await try_again(ada)).status_code == 200
    assert (await try_again(ada)).status_code == 403
    await shift(either, late, minutes=90)  # an hour after it was due, for others
    async with either.services[Database].writing() as session:
        (await session.get_one(AttemptRow, late)).score = 100
    path = f"/api/v1/courses/{course['id']}/gradebook"
    lines = (await tess.get(path)).json()["students"]
    assert [(each["name"], each["total"]) for each in lines] == [("ada", 50), ("bob", 0)]
    [entry] = await changes_in(either)
    assert (entry.action, entry.whom.name, entry.reason) == ("assignment-extended", "ada", "was ill")
    rest = f"/api/v1/courses/{course['id']}/assignments/{assignment['id']}/extensions"
    [listed] = (await tess.get(rest)).json()["extensions"]
    assert (listed["name"], listed["extra_minutes"], listed["extra_attempts"]) == ("ada", 120, 1)
    for wrong, status in (({"reason": ""}, 422), ({"extra_minutes": -1}, 422)):
        body = {"extra_minutes": 5, "reason": "x"} | wrong
        assert (await tess.put(f"{rest}/{listed['person']}", json=body, headers=JSON)).status_code == status
    assert (await tess.put(f"{rest}/{'0' * 32}", json={"reason": "x"}, headers=JSON)).status_code == 404
    assert (await ada.put(f"{rest}/{listed['person']}", json={"reason": "x"}, headers=JSON)).status_code == 403
    back = await tess.put(f"{rest}/{listed['person']}", json={"reason": "a mistake"}, headers=JSON)
    assert back.status_code == 204
    assert (await tess.get(rest)).json()["extensions"] == []
    typed = await send_form(
        tess, f"{here}/extensions", f"{here}/extend", person=listed["person"], extra_minutes="soon", reason="x"
    )
    assert (typed.status_code, "extra_minutes: must be a whole number" in typed.text) == (422, True)


async def test_what_cannot_be_is_refused(people):
    tess = people[2]
    course = await create(tess)
    path = f"/api/v1/courses/{course['id']}/assignments"
    body = {"name": "Exam", "opens": at(days=-1), "due": at(days=1), "problems": [{"problem": "add_one"}]}
    for wrong, words in (
        ({"exam": True, "late_percent": 10}, "an exam closes when it is due"),
        ({"attempt_limit": 0}, "attempt_limit"),
        ({"cool_down_minutes": 100_000}, "cool_down_minutes"),
    ):
        answer = await tess.post(path, json=body | wrong, headers=JSON)
        assert (answer.status_code in (409, 422), words in answer.text) == (True, True), answer.text
    page = f"/courses/{course['id']}"
    form = {"name": "Exam", "opens": at(days=-1), "due": at(days=1), "problems": "add_one", "cool_down_minutes": "x"}
    typed = await send_form(tess, page, f"{page}/assignments", **form)
    assert (typed.status_code, "cool_down_minutes: must be a whole number" in typed.text) == (422, True)
