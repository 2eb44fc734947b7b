"""A place of an exam may have several problems, of which each student gets one."""

from collections import Counter

import pytest

from app.teaching.courses.exam_pools import ExamPools
from tests.app.accounts.people import send_form
from tests.app.teaching.courses.exam_problem import MARKS, give, solve
from tests.app.teaching.courses.test_assignments import only_assignment
from tests.app.teaching.courses.test_courses import JSON, at, join, people, rows_in
from tests.app.teaching.courses.test_open_exams import HTML, end
from tests.app.teaching.people.test_attempts_of_others import me

pytestmark = pytest.mark.anyio
__all__ = ["people"]
POOL = ("secret_sum", "secret_product")


def test_a_draw_is_stable_and_spread_evenly():
    pools, students = ExamPools(b"secret"), [f"{number:032x}" for number in range(3000)]
    three = ["a", "b", "c"]
    drawn = {each: pools.drawn("exam", each, three) for each in students}
    assert all(900 < count < 1100 for count in Counter(drawn.values()).values())
    assert all(pools.drawn("exam", each, ["c", "a", "b"]) == drawn[each] for each in students)
    # A problem that joins the pool takes its share, and moves nobody else.
    moved = {pools.drawn("exam", each, [*three, "d"]) for each in students if drawn[each] == "a"}
    assert moved == {"a", "d"}
    assert any(pools.drawn("another exam", each, three) != drawn[each] for each in students)
    assert any(ExamPools(b"another").drawn("exam", each, three) != drawn[each] for each in students)


async def exam_with_pool(either, tess) -> tuple[dict, str]:
    """A course, and the id of its exam, which is open: `add_one`, and one problem of the pool."""
    course = (await tess.post("/api/v1/courses", json={"name": "JAX", "time_zone": "UTC"}, headers=JSON)).json()
    for slug in POOL:
        await give(either, tess, course, slug)
    problems = [{"problem": "add_one", "points": 10}, *({"problem": each, "points": 40, "pool": 1} for each in POOL)]
    body = {"name": "Exam", "exam": True, "opens": at(hours=-1), "due": at(hours=2), "problems": problems}
    made = await tess.post(f"/api/v1/courses/{course['id']}/assignments", json=body, headers=JSON)
    assert made.status_code == 201, made.text
    return course, made.json()["id"]


async def test_each_student_sees_one_problem_and_is_graded_by_it(either, people):
    ada, bob, tess = people
    course, exam = await exam_with_pool(either, tess)
    pools = either.services[ExamPools]
    mine = {}
    for http in (ada, bob):
        await join(http, course)
        mine[http] = pools.drawn(exam, await me(http), POOL)
        listed = (await only_assignment(http, course))["problems"]
        assert [each["problem"] for each in listed] == ["add_one", mine[http]]
        [other] = set(POOL) - {mine[http]}
        assert (await http.get(f"/api/v1/problems/{mine[http]}")).status_code == 200
        assert (await http.get(f"/api/v1/problems/{other}")).status_code == 404
        page = (await http.get(f"/courses/{course['id']}", headers=HTML)).text
        assert f"/problems/{mine[http]}" in page
        assert f"/problems/{other}" not in page
        await solve(either, http, mine[http])
    book = (await tess.get(f"/api/v1/courses/{course['id']}/gradebook")).json()
    assert [(each["problem"], each["pool"], each["points"]) for each in book["columns"]] == [
        ("add_one", [], 10),
        ("secret_sum", ["secret_product"], 40),
    ]
    assert [each["total"] for each in book["students"]] == [40, 40]
    csv = (await tess.get(f"/courses/{course['id']}/gradebook.csv")).text
    assert "Exam: secret_sum or secret_product (40)" in csv
    # Once it has closed for everyone, all of them are open, and a draw still decides what counts.
    await end(either)
    [other] = set(POOL) - {mine[ada]}
    assert MARKS["statement"] in (await ada.get(f"/api/v1/problems/{other}")).text
    book = (await tess.get(f"/api/v1/courses/{course['id']}/gradebook")).json()
    assert book["students"][0]["total"] in (0, 40)


async def test_a_pool_is_typed_on_one_line_and_checked(either, people):
    _, _, tess = people
    course = (await tess.post("/api/v1/courses", json={"name": "JAX", "time_zone": "UTC"}, headers=JSON)).json()
    for slug in POOL:
        await give(either, tess, course, slug)
    path = f"/courses/{course['id']}"
    fields = {"name": "Exam", "opens": at(hours=1), "due": at(hours=2)}

    async def assign(problems: str, **more: str):
        return await send_form(tess, path, f"{path}/assignments", problems=problems, **fields, **more)

    for wrong, words in (("secret_sum | 100", "line 1 must be a problem"), ("a b | c 100", "line 1 must be a problem")):
        assert words in (await assign(wrong, exam="on")).text
    assert "only an exam has pools" in (await assign("secret_sum | secret_product 40")).text
    assert (await assign("add_one 10\nsecret_sum | secret_product 40", exam="on")).status_code == 303
    exam = await only_assignment(tess, course)
    assert [each["pool"] for each in exam["problems"]] == [None, 2, 2]
    edit = (await tess.get(f"{path}/assignments/{exam['id']}/edit", headers=HTML)).text
    assert rows_in(edit) == [("add_one", "10"), ("secret_sum | secret_product", "40")]
    uneven = [{"problem": each, "points": 10 + place, "pool": 1} for place, each in enumerate(POOL)]
    body = {"name": "Exam", "exam": True, "opens": at(hours=-1), "due": at(hours=2), "problems": uneven}
    refused = await tess.put(f"/api/v1{path}/assignments/{exam['id']}", json=body, headers=JSON)
    assert "needs as many points as the others of its pool" in refused.json()["detail"]


async def test_a_cell_is_at_the_problem_that_the_student_got(either, people):
    ada, _, tess = people
    course, exam = await exam_with_pool(either, tess)
    await join(ada, course)
    drawn = either.services[ExamPools].drawn(exam, await me(ada), POOL)
    [other] = set(POOL) - {drawn}
    cells = f"/courses/{course['id']}/assignments/{exam}/cells"
    for path in (f"/api/v1{cells}/{other}/{await me(ada)}", f"{cells}/{other}/{await me(ada)}"):
        missing = await tess.get(path)
        assert (missing.status_code, f"ada did not get the problem {other}, but {drawn}" in missing.text) == (404, True)
    here = f"{cells}/{drawn}/{await me(ada)}"
    assert f'href="{here}"' in (await tess.get(f"/courses/{course['id']}/gradebook", headers=HTML)).text
    assert (await tess.get(here, headers=HTML)).status_code == 200
    why = {"reason": "a power cut", "reason_shown": True}
    refused = await tess.put(f"/api/v1{cells}/{other}/{await me(ada)}", json={"excused": why}, headers=JSON)
    assert refused.status_code == 404
    await end(either)
    given = await tess.put(f"/api/v1{here}", json={"override": {"points": 12.5} | why}, headers=JSON)
    assert (given.status_code, given.json()["problem"]) == (200, drawn)
    [line] = (await tess.get(f"/api/v1/courses/{course['id']}/gradebook")).json()["students"]
    assert [(each["problem"], each["points"]) for each in line["cells"]] == [("add_one", None), (drawn, 12.5)]
    assert (line["total"], line["possible"], line["percent"]) == (12.5, 50, 25)
    page = " ".join((await ada.get(f"/courses/{course['id']}", headers=HTML)).text.split())
    for words in ("12.5 of 40 points", "gave 12.5 points by hand. a power cut"):
        assert words in page
