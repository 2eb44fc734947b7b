"""The gradebook as files that Canvas and Moodle import."""

import csv
import io

import pytest

from tests.app.accounts.people import browser
from tests.app.teaching.courses.test_courses import JSON, at, create, join, people
from tests.app.teaching.courses.test_roster_people import imported, use
from tests.app.teaching.people.test_attempts_of_others import GOOD, me, send

pytestmark = pytest.mark.anyio
__all__ = ["people"]
CANVAS = """Student,ID,SIS User ID,SIS Login ID,Section
    Points Possible,,,,
"Lovelace, Ada",17,s-1,ada@example.org,Monday
"""


async def rows_of(http, course: dict, kind: str) -> list[list[str]]:
    answer = await http.get(f"/courses/{course['id']}/gradebook.csv?for={kind}")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"] == f'attachment; filename="gradebook-{kind}.csv"'
    return list(csv.reader(io.StringIO(answer.text.removeprefix("\ufeff"))))


async def test_what_canvas_exported_returns_with_points(either, people):
    _, bob, tess = people
    course = await create(tess)
    problems = [{"problem": "add_one", "points": 20}]
    body = {"name": "Week 1", "opens": at(days=-1), "due": at(hours=2), "problems": problems}
    again = await tess.post(f"/api/v1/courses/{course['id']}/assignments", json=body, headers=JSON)
    assert again.status_code == 201
    await join(bob, course)
    [row] = await imported(tess, course, CANVAS)
    async with browser(either) as ada:
        await use(ada, row["url"], "darkcat26")
        await send(either, ada, GOOD)
    assert await rows_of(tess, course, "canvas") == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Week 1", "Week 1 (2)"],
        ["    Points Possible", "", "", "", "", "50", "20"],
        ["Lovelace, Ada", "17", "s-1", "ada@example.org", "Monday", "50.0", "20.0"],
    ]
    assert await rows_of(tess, course, "moodle") == [
        ["First name", "Surname", "ID number", "Email address", "Week 1", "Week 1 (2)"],
        ["Ada", "Lovelace", "s-1", "ada@example.org", "50.0", "20.0"],
    ]
    assert (await bob.get(f"/courses/{course['id']}/gradebook.csv?for=canvas")).status_code == 403
    assert (await tess.get(f"/courses/{course['id']}/gradebook.csv?for=nobody")).status_code == 422


async def test_a_name_without_parts_is_divided_and_nothing_is_left_empty(people):
    ada, _, tess = people
    course = await create(tess)
    await join(ada, course)
    await imported(tess, course, "username,name,email\nada,Ada King Lovelace,a@example.org\n")
    assert (await rows_of(tess, course, "moodle"))[1] == ["Ada King", "Lovelace", "", "a@example.org", ""]
    assert len(await rows_of(tess, course, "canvas")) == 2


async def test_points_by_hand_are_a_part_of_what_the_platform_has_at_most(either, people):
    ada, _, tess = people
    course = await create(tess)
    await join(ada, course)
    await imported(tess, course, "username,name,email,student_number\nada,Ada Lovelace,a@example.org,s-1\n")
    await send(either, ada, GOOD)
    [assignment] = (await tess.get(f"/api/v1/courses/{course['id']}/assignments")).json()["assignments"]
    cell = f"/api/v1/courses/{course['id']}/assignments/{assignment['id']}/cells/add_one/{await me(ada)}"
    rubric = {"points": 3, "maximum": 5, "reason": ""}
    why = {"reason": "agreed", "reason_shown": False}
    # 50 points of the judge, 3 of 5 of the rubric and 2 more are 55 of 55: all of the 50 that the platform knows.
    for marks, canvas, moodle in (
        ({"rubric": rubric}, "48.18", "48.18"),
        ({"rubric": rubric, "bonus": {"points": 2} | why}, "50.0", "50.0"),
        ({"bonus": {"points": 2} | why}, "52.0", "52.0"),
        ({"excused": why}, "EX", ""),
        ({}, "50.0", "50.0"),
    ):
        assert (await tess.put(cell, json=marks, headers=JSON)).status_code == 200
        assert (await rows_of(tess, course, "canvas"))[2][5:] == [canvas], marks
        assert (await rows_of(tess, course, "moodle"))[1][4:] == [moodle], marks
