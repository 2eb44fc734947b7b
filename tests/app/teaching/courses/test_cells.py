"""A cell of the gradebook: what is given to it by hand, by whom, what the student reads of it, and what is refused."""

import json

import pytest
from sqlalchemy import select

from app.core.database import Database
from app.teaching.courses.models import MarkRow
from tests.app.accounts.people import SITE, browser, send_form, sign_in, sign_up
from tests.app.teaching.courses.test_assistants import appoint
from tests.app.teaching.courses.test_courses import IDENTITY, JSON, create, join
from tests.app.teaching.people.test_attempts_of_others import GOOD, me, send

pytestmark = pytest.mark.anyio
WRONG = "def add_one(x):\n    return x\n"
WHY = {"reason": "agreed in the oral exam", "reason_shown": False}
OVERRIDE = {"override": {"points": 40.5} | WHY}


@pytest.fixture
async def people(either):
    """Their browsers by name: a student, an assistant, an instructor and the owner."""
    await sign_in(either)
    async with browser(either) as ada, browser(either) as bob, browser(either) as tess:
        await sign_up(either, ada, "ada")
        await sign_up(either, bob, "bob")
        await sign_up(either, tess, "tess", "instructor")
        yield {"ada": ada, "bob": bob, "tess": tess, "owner": either.http}


@pytest.fixture
async def course(people) -> dict:
    return await with_ada(people)


async def with_ada(people, **assignment: object) -> dict:
    """A course of tess with ada as a student and bob as an assistant, and the path of ada's cell as `cell`."""
    made = await create(people["tess"], **assignment)
    for name in ("ada", "bob"):
        await join(people[name], made)
    await appoint(people["tess"], made, await me(people["bob"]))
    path = f"/courses/{made['id']}/assignments"
    [found] = (await people["tess"].get(f"/api/v1{path}")).json()["assignments"]
    return made | {"cell": f"{path}/{found['id']}/cells/add_one/{await me(people['ada'])}"}


async def put(http, course: dict, **marks: object):
    return await http.put(f"/api/v1{course['cell']}", json=marks, headers=JSON)


async def line(people, course: dict) -> dict:
    [found] = (await people["tess"].get(f"/api/v1/courses/{course['id']}/gradebook")).json()["students"]
    return found


async def test_points_by_hand_count_without_an_attempt_and_before_one(either, people, course):
    answer = await put(people["tess"], course, **OVERRIDE)
    assert answer.status_code == 200, answer.text
    assert answer.json() == (await people["bob"].get(f"/api/v1{course['cell']}")).json()
    [mark] = answer.json()["marks"]
    assert mark | {"at": ""} == OVERRIDE["override"] | {"kind": "override", "maximum": None, "by": "tess", "at": ""}
    assert (await line(people, course))["total"] == 40.5
    attempt = await send(either, people["ada"], GOOD)
    # An attempt whose points are changed by hand gives way to the override of the cell.
    theirs = f"/api/v1/people/{await me(people['ada'])}/attempts/{attempt}/override"
    await people["tess"].put(theirs, json={"score": 10, "reason": "copied"}, headers=SITE)
    found = (await people["tess"].get(f"/api/v1{course['cell']}")).json()
    assert (found["points"], found["changed_by_hand"]) == (40.5, True)
    assert [(each["role"], each["score"], each["points"]) for each in found["attempts"]] == [("counts", 10, 5)]
    assert [each["action"] for each in found["history"]] == ["score-changed", "cell-changed"]
    assert (await people["tess"].delete(f"/api/v1{course['cell']}", headers=SITE)).status_code == 204
    assert (await line(people, course))["total"] == 5


async def test_excuse_rubric_and_bonus_in_every_view(either, people, course):
    await send(either, people["ada"], GOOD)
    rubric = {"points": 3, "maximum": 5, "reason": "clear names", "reason_shown": True}
    await put(people["tess"], course, rubric=rubric, bonus={"points": 7.25} | WHY)
    found = await line(people, course)
    assert (found["total"], found["possible"], found["percent"]) == (60.25, 55, 109.55)
    assert found["cells"][0]["bonus"] == 7.25
    mine = " ".join((await people["ada"].get(f"/courses/{course['id']}")).text.split())
    for words in ("60.25 of 55 points", "With 3 of 5 rubric points. clear names", "With a bonus of 7.25 points."):
        assert words in mine
    assert WHY["reason"] not in mine
    page = (await people["tess"].get(f"/courses/{course['id']}/gradebook")).text
    assert course["cell"] in page
    assert 'title="bonus"' in page
    await put(people["tess"], course, excused={"reason": "ill", "reason_shown": True})
    found = await line(people, course)
    assert (found["total"], found["possible"], found["percent"]) == (0, 0, None)
    assert found["cells"][0]["excused"]
    mine = (await people["ada"].get(f"/courses/{course['id']}")).text
    assert "Excused: this does not count. ill" in mine
    csv = (await people["tess"].get(f"/courses/{course['id']}/gradebook.csv")).text
    assert csv.splitlines()[1] == f"ada{',' * len(IDENTITY)},excused,0.0,0.0,,"
    assert (await people["tess"].get(f"/api/v1/courses/{course['id']}/gradebook?missing=true")).json()["students"] == []


async def test_an_assistant_cannot_change_what_a_higher_role_gave(people, course):
    bonus = {"points": 2} | WHY
    assert (await put(people["bob"], course, bonus=bonus)).status_code == 200
    assert (await put(people["tess"], course, bonus=bonus, **OVERRIDE)).status_code == 200
    for answer in (
        await put(people["bob"], course, bonus=bonus),
        await put(people["bob"], course, bonus=bonus, override={"points": 1} | WHY),
        await people["bob"].delete(f"/api/v1{course['cell']}", headers=SITE),
    ):
        assert (answer.status_code, answer.json()["slug"]) == (403, "role-missing")
        assert answer.json()["detail"].startswith("These points were given by an instructor")
    # What stays as it was is not a change, and the rest is the assistant's own.
    assert (await put(people["bob"], course, **OVERRIDE)).status_code == 200
    assert (await put(people["owner"], course)).json()["marks"] == []
    details = [each["detail"].split(",")[0] for each in (await put(people["owner"], course)).json()["history"]]
    assert details == [
        "override: 40.5 points by an instructor to none",
        "bonus: 2 points by an assistant to none",
        "override: none to 40.5 points",
        "bonus: none to 2 points",
    ]


async def test_who_reads_and_changes_a_cell(people, course):
    for http in (people["ada"],):
        assert (await put(http, course, **OVERRIDE)).status_code == 403
        assert (await http.get(f"/api/v1{course['cell']}")).status_code == 403
        assert (await http.get(course["cell"])).status_code == 403
    for path in (course["cell"].replace("add_one", "no_such"), course["cell"][:-32] + "0" * 32):
        assert (await people["tess"].get(f"/api/v1{path}")).status_code == 404
    own = await join(people["tess"], course)
    mine = course["cell"][:-32] + await me(people["tess"])
    answer = await people["tess"].put(f"/api/v1{mine}", json=OVERRIDE, headers=JSON)
    assert (answer.status_code, "your own" in answer.text, own["id"]) == (403, True, course["id"])


@pytest.mark.parametrize(
    ("marks", "words"),
    [
        ({"override": {"points": 51} | WHY}, "override.points: give 0 to 50 points. Anything above is a bonus."),
        ({"override": {"points": 1.005} | WHY}, "at most two decimals"),
        ({"override": {"points": 1, "reason": " "}}, "override.reason"),
        ({"rubric": {"points": 6, "maximum": 5}}, "rubric.points: give 0 to 5 points"),
        ({"rubric": {"points": 0, "maximum": 0}}, "rubric.maximum"),
        ({"bonus": {"points": 0} | WHY}, "bonus.points"),
        ({"excused": {}}, "excused.reason"),
    ],
)
async def test_what_is_wrong_with_a_mark(people, course, marks, words):
    answer = await put(people["tess"], course, **marks)
    assert answer.status_code == 422
    assert words in answer.json()["detail"]


async def test_each_mark_has_a_form(either, people, course):
    tess, page = people["tess"], course["cell"]
    await send(either, people["ada"], WRONG)

    async def fill(kind: str, step: str = "give", **fields: str):
        return await send_form(tess, page, f"{page}#{kind}", **{"kind": kind, "step": step} | fields)

    done = await fill("rubric", points="2,5", maximum="5", reason="")
    assert (done.status_code, done.headers["location"]) == (303, f"{page}#rubric")
    await fill("excused", reason="ill")
    shown = " ".join((await tess.get(page)).text.split())
    for words in (
        "2.5 of 5 points",
        "<strong>Excused</strong>",
        "tess changed a cell of the gradebook",
        ">counts</td>",
    ):
        assert words in shown
    await fill("excused", "take")
    assert [each["kind"] for each in (await tess.get(f"/api/v1{page}")).json()["marks"]] == ["rubric"]
    for fields, words in (
        ({"points": "many"}, "points: give a number of points"),
        ({"points": ""}, "bonus.points: is required"),
        ({"points": "3", "reason": ""}, "bonus.reason"),
    ):
        refused = await fill("bonus", **fields)
        assert (refused.status_code, words in refused.text) == (422, True), fields
    assert 'value="3"' in (await fill("bonus", points="3")).text
    unknown = await send_form(tess, page, f"{page}#bonus", kind="gift", step="give")
    assert (unknown.status_code, "kind: must be override" in unknown.text) == (422, True)


async def test_an_open_exam_takes_an_excuse_and_no_points(people):
    course = await with_ada(people, exam=True)
    answer = await put(people["tess"], course, **OVERRIDE)
    assert (answer.status_code, answer.json()["slug"]) == (409, "cell-refused")
    assert (await put(people["tess"], course, excused=WHY)).status_code == 200


async def test_marks_are_exported_and_go_with_the_student_but_not_with_their_author(either, people, course):
    await put(people["tess"], course, **OVERRIDE)
    for name in ("ada", "tess"):
        [mark] = json.loads((await people[name].get("/api/v1/me/export")).text)["cell_marks"]
        assert (mark["kind"], mark["hundredths"]) == ("override", 4050), name
    assert (await people["tess"].delete("/api/v1/me?name=tess", headers=SITE)).status_code == 204
    [mark] = (await people["owner"].get(f"/api/v1{course['cell']}", headers=JSON)).json()["marks"]
    assert mark["by"] is None
    assert (await people["ada"].delete("/api/v1/me?name=ada", headers=SITE)).status_code == 204
    async with either.services[Database].reading() as session:
        assert (await session.scalars(select(MarkRow))).all() == []
