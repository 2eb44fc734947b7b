"""Weights: the categories of a course and the rules of an assignment, on pages, over REST and for a student."""

from datetime import timedelta

import pytest

from app.core.database import Database
from app.grading.queue.models import AttemptRow
from tests.app.accounts.people import SITE, send_form, sign_in
from tests.app.teaching.courses.test_courses import JSON, at, create, join, people
from tests.app.teaching.people.test_attempts_of_others import GOOD, send
from tests.app.teaching.people.test_people import entries

pytestmark = pytest.mark.anyio
__all__ = ["people"]
WRONG = "def add_one(x):\n    return x\n"


def weights(*categories: tuple[str, int, int]) -> dict:
    return {"categories": [{"name": name, "weight": weight, "drop_lowest": drop} for name, weight, drop in categories]}


async def add(tess, course: dict, name: str, **fields: object) -> dict:
    problems = [{"problem": "add_one", "points": 50}]
    body = {"name": name, "opens": at(days=-1), "due": at(hours=1), "problems": problems} | fields
    answer = await tess.post(f"/api/v1/courses/{course['id']}/assignments", json=body, headers=JSON)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def book(tess, course: dict) -> dict:
    [line] = (await tess.get(f"/api/v1/courses/{course['id']}/gradebook")).json()["students"]
    return line


async def test_the_total_is_weighted_and_shown_everywhere(either, people):
    ada, _, tess = people
    course = await create(tess)
    path = f"/api/v1/courses/{course['id']}/categories"
    wanted = weights(("Homework", 40, 1), ("Exams", 60, 0))
    assert (await tess.put(path, json=wanted, headers=JSON)).status_code == 204
    assert (await tess.get(path)).json() == wanted
    await add(tess, course, "Two", category="Homework", counted="last")
    await add(tess, course, "Three", category="Exams", counted="average", weight=3)
    await add(tess, course, "Four", category="Exams", weight=1)
    await join(ada, course)
    await send(either, ada, GOOD)
    await send(either, ada, WRONG)
    line = await book(tess, course)
    # The attempts have 100 and 0: best 50, last 0, average 25, best 50. `Week 1` is in no category.
    assert sorted(each["points"] for each in line["cells"]) == [0, 25, 50, 50]
    # Homework 0 %, Exams (3 * 50 + 1 * 100) / 4 = 62.5 %; (40 * 0 + 60 * 62.5) / 100.
    assert (line["total"], line["possible"], line["percent"]) == (125, 200, 37.5)
    page = (await tess.get(f"/courses/{course['id']}/gradebook")).text
    assert "<td><strong>125</strong></td><td>37.5%</td>" in page
    csv = (await tess.get(f"/courses/{course['id']}/gradebook.csv")).text
    assert csv.splitlines()[1].endswith(",125.0,200.0,37.5,")
    mine = " ".join((await ada.get(f"/courses/{course['id']}")).text.split())
    for words in ("<strong>37.5%</strong>", "The last attempt at each problem counts.", "62.5%", "The average of the"):
        assert words in mine


async def test_the_lowest_is_dropped_and_named(either, people):
    ada, _, tess = people
    course = await create(tess)
    await tess.put(f"/api/v1/courses/{course['id']}/categories", json=weights(("All", 1, 1)), headers=JSON)
    await add(tess, course, "High", category="All")
    await add(tess, course, "Low", category="All", counted="last")
    await join(ada, course)
    await send(either, ada, GOOD)
    await send(either, ada, WRONG)
    assert (await book(tess, course))["percent"] == 100
    assert "The lowest do not count: Low." in " ".join((await ada.get(f"/courses/{course['id']}")).text.split())


@pytest.mark.parametrize(("minutes", "expected"), [(30, (50, False)), (31, None), (1441, None)])
async def test_a_grace_period_forgives(either, people, minutes, expected):
    ada, _, tess = people
    course = await create(tess, opens=at(days=-9), due=at(days=-5), grace_minutes=30)
    await join(ada, course)
    attempt = await send(either, ada, GOOD)
    [assignment] = (await tess.get(f"/api/v1/courses/{course['id']}/assignments")).json()["assignments"]
    async with either.services[Database].writing() as session:
        row = await session.get_one(AttemptRow, attempt)
        row.created_at = type(row.created_at).fromisoformat(assignment["due_at"]) + timedelta(minutes=minutes)
    [cell] = (await book(tess, course))["cells"]
    assert (None if cell["points"] is None else (cell["points"], cell["late"])) == expected


async def test_categories_are_lines_of_a_form(either, people):
    _, _, tess = people
    await sign_in(either)
    course = await create(tess)
    path = f"/courses/{course['id']}/categories"
    text = "Homework: 40, drop 1\n\nExams: oral: 60"
    done = await send_form(tess, path, path, categories=text, reason="as announced")
    assert (done.status_code, done.headers["location"]) == (303, path)
    assert (await tess.get(f"/api/v1{path}")).json() == weights(("Homework", 40, 1), ("Exams: oral", 60, 0))
    page = (await tess.get(path)).text
    assert "Homework: 40, drop 1\nExams: oral: 60</textarea>" in page
    assert "does not count: no category" in page
    assert (await entries(either))[0][0] == "categories-changed"
    before = await entries(either)
    await send_form(tess, path, path, categories=text)
    assert await entries(either) == before
    for wrong, words in (
        ("Homework", "line 1 must be a name, a colon and a weight"),
        ("a: 1\na: 2", "appears twice"),
        ("a: 1001", "weight of 0 to 1000"),
        ("a: 1, drop 51", "leave out 0 to 50 assignments"),
    ):
        refused = await send_form(tess, path, path, categories=wrong)
        assert refused.status_code in (409, 422), wrong
        assert words in refused.text
        assert wrong.split("\n")[0] in refused.text


async def test_what_contradicts_is_refused(either, people):
    ada, _, tess = people
    course = await create(tess)
    path = f"/api/v1/courses/{course['id']}/categories"
    await tess.put(path, json=weights(("Homework", 1, 0)), headers=JSON)
    await add(tess, course, "Two", category="Homework")
    gone = await tess.put(path, json=weights(), headers=JSON)
    assert (gone.status_code, gone.json()["slug"]) == (409, "categories-invalid")
    assert "the assignment 'Two' is in 'Homework'" in gone.json()["detail"]
    body = {"name": "x", "opens": at(days=-1), "due": at(hours=1), "problems": [{"problem": "add_one"}]}
    for fields, words in (
        ({"category": "Labs"}, "no category 'Labs'. It has Homework."),
        ({"counted": "worst"}, "counted: must be best, last or average"),
        ({"grace_minutes": 20_000}, "grace_minutes"),
        ({"exam": True, "grace_minutes": 5}, "an exam closes when it is due"),
        ({"weight": 2000}, "weight"),
    ):
        answer = await tess.post(f"/api/v1/courses/{course['id']}/assignments", json=body | fields, headers=JSON)
        assert answer.status_code in (409, 422), fields
        assert words in answer.json()["detail"]
    assert (await ada.get(path)).status_code == 403
    assert (await ada.put(path, json=weights(), headers=SITE)).status_code == 403
