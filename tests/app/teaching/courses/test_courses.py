"""A course from its code to its gradebook, in a browser and over REST, on each database."""

import csv
import io
import re
from datetime import timedelta

import pytest

from app.accounts.audit.log import AuditEntry, AuditLog
from app.accounts.models import UserRow
from app.core.clock import now
from app.core.database import Database
from app.core.rest.paging import Cursor
from app.grading.queue.models import AttemptRow
from app.teaching.courses.models import MemberRow
from app.teaching.courses.safe_csv import csv_of
from tests.app.accounts.people import SITE, browser, send_form, sign_up
from tests.app.teaching.people.test_attempts_of_others import GOOD, send

pytestmark = pytest.mark.anyio
JSON = SITE | {"Accept": "application/json"}
IDENTITY = ["real name", "first name", "surname", "email", "student number", "login", "section"]


@pytest.fixture
async def people(either):
    """Browsers of two students and an instructor."""
    async with browser(either) as ada, browser(either) as bob, browser(either) as tess:
        await sign_up(either, ada, "ada")
        await sign_up(either, bob, "bob")
        await sign_up(either, tess, "tess", "instructor")
        yield ada, bob, tess


def at(**distance: float) -> str:
    return (now() + timedelta(**distance)).strftime("%Y-%m-%dT%H:%M")


async def create(tess, **assignment: object) -> dict:
    """A course with an assignment that is due in an hour."""
    course = (await tess.post("/api/v1/courses", json={"name": "JAX", "time_zone": "UTC"}, headers=JSON)).json()
    problems = [{"problem": "add_one", "points": 50}]
    body = {"name": "Week 1", "opens": at(days=-1), "due": at(hours=1), "problems": problems}
    answer = await tess.post(f"/api/v1/courses/{course['id']}/assignments", json=body | assignment, headers=JSON)
    assert answer.status_code == 201, answer.text
    return course


def rows_in(page: str) -> list[tuple[str, str]]:
    """The problems of an assignment, as its form lists them, with their points."""
    listed = page.partition("data-picked>")[2].partition("</ol>")[0]
    values, points = (re.findall(rf'name="{each}-[0-9]+" value="([^"]*)"', listed) for each in ("problem", "points"))
    return list(zip(values, points, strict=True))


async def changes_in(service) -> list[AuditEntry]:
    """The audit log, newest first, without who created courses and assignments or became an assistant."""
    left_out = ("course-created", "assignment-created", "course-role-changed")
    return [each for each in await service.services[AuditLog].list(Cursor(20)) if each.action not in left_out]


async def join(http, course: dict) -> dict:
    answer = await http.post("/api/v1/courses/join", json={"code": course["join_code"]}, headers=JSON)
    return answer.json()


async def test_a_whole_course_in_a_browser(either, people):
    ada, bob, tess = people
    made = await send_form(tess, "/courses", "/courses", name="JAX <autumn>", time_zone="Europe/Berlin")
    course = made.headers["location"]
    page = (await tess.get(course)).text
    assert "JAX &lt;autumn&gt;" in page
    code = re.search(r"join code <code>(\w+)</code>", page)[1]
    fields = {"name": "Week 1", "opens": "2026-01-12T09:00", "due": "2098-07-19T23:59", "late_percent": ""}
    assigned = await send_form(tess, course, f"{course}/assignments", problems="add_one 50\n\n", **fields)
    assert (assigned.status_code, assigned.headers["location"]) == (303, course)
    assert (await ada.get(course)).status_code == 404
    joined = await send_form(ada, "/courses", "/courses/join", code=f" {code.upper()} ")
    assert joined.headers["location"] == course
    await send(either, ada, GOOD)
    page = (await ada.get(course)).text
    for words in ("Week 1", "Sat 19 Jul 2098, 23:59", "50 of 50 points", "Nothing counts after that."):
        assert words in page
    for hidden in (code, "New assignment", "Gradebook"):
        assert hidden not in page
    assert (await ada.get(f"{course}/gradebook")).status_code == 403

    book = (await tess.get(f"{course}/gradebook")).text
    full = r'<td data-state="full"><a href="[^"]+">50<.+?</a> <span aria-hidden="true">✓</span></td>'
    assert re.search(rf">ada</a></th>{full}<td><strong>50</strong></td><td>100%</td>", book)
    edit = re.search(rf'href="({course}/assignments/\w+/edit)"', (await tess.get(course)).text)[1]
    withdrawn = (await send_form(tess, edit, edit.replace("/edit", "/withdraw"), reason="a mistake")).text
    assert "Week 1 is withdrawn." in withdrawn
    assert "Week 1" not in (await tess.get(course)).text
    form = withdrawn.split('class="notice undo"')[1].split("</form>")[0]
    again = dict(re.findall(r'<input type="hidden" name="([\w-]+)" value="([^"]*)">', form))
    created = await tess.post(f"{course}/assignments", data=again | {"problems": "add_one 50"}, headers=SITE)
    assert created.status_code == 303
    assert ">50<" in (await tess.get(f"{course}/gradebook")).text
    removal = re.search(rf'action="({course}/people/\w+/remove)"', (await tess.get(course)).text)[1]
    removed = await send_form(tess, course, removal)
    assert (await ada.get(course)).status_code == 404
    undo = removed.headers["location"]
    assert "ada is no longer in this course." in (await tess.get(undo)).text
    back = await send_form(tess, undo, removal.replace("/remove", "/add"))
    assert back.headers["location"] == f"{course}#people"
    assert (await ada.get(course)).status_code == 200
    assert "no longer in this course" not in (await tess.get(undo)).text
    assert "No courses" in (await bob.get("/courses")).text


async def test_a_form_that_is_wrong_comes_back_with_the_reason(either, people):
    tess = people[2]
    page = f"/courses/{(await create(tess))['id']}"
    right = {"name": "Week 2", "opens": "2026-01-12T09:00", "due": "2026-01-19T23:59", "problems": "add_one"}
    for wrong, words in (
        ({"name": ""}, "name: is required"),
        ({"due": "2026-01-01T00:00"}, "due: must be after opens"),
        ({"opens": "tomorrow"}, "opens: give a local date and time"),
        ({"problems": "no_such 10"}, "no_such"),
        ({"problems": "add_one ten"}, "line 1 must be a problem and its points"),
        ({"problems": "add_one\nadd_one"}, "appears twice"),
        ({"problems": "add_one 5000"}, "its points, 0 to 1000"),
        ({"late_percent": "-1"}, "late_percent: must be at least 1"),
        ({"late_percent": "101"}, "late_percent: must be at most 100"),
    ):
        answer = await send_form(tess, page, f"{page}/assignments", **right | wrong)
        assert (answer.status_code in (404, 409, 422), words in answer.text) == (True, True), wrong
    unknown = await send_form(tess, "/courses", "/courses/join", code="a\0b")
    assert (unknown.status_code, "No course has the join code" in unknown.text) == (404, True)


async def test_a_problem_is_chosen_without_a_script(either, people):
    tess = people[2]
    page = f"/courses/{(await create(tess))['id']}"
    assert '<option value="add_one"' in (await tess.get(page)).text
    typed = {"name": "Week 2", "problem-7": "sub_one", "points-7": "5", "problem-2": "mul_one", "points-2": "6"}
    added = await send_form(tess, page, f"{page}/assignments", **typed, step="add", add="Add_")
    assert added.status_code == 200
    assert rows_in(added.text) == [("sub_one", "5"), ("mul_one", "6"), ("add_one", "100")]
    for step, order in (
        ("up-2", ["mul_one", "sub_one"]),
        ("down-2", ["sub_one", "mul_one"]),
        ("up-7", ["sub_one", "mul_one"]),
        ("remove-7", ["mul_one"]),
    ):
        moved = await send_form(tess, page, f"{page}/assignments", **typed, step=step)
        assert (moved.status_code, [slug for slug, _ in rows_in(moved.text)]) == (200, order), step
    for sought in ("nothing", "\0"):
        refused = await send_form(tess, page, f"{page}/assignments", **typed, step="add", add=sought)
        assert (refused.status_code, "Choose one from the list." in refused.text) == (422, True)
    # Enter presses the first button of the form: without a choice, it creates the assignment.
    dates = {"opens": "2026-01-12T09:00", "due": "2026-01-19T23:59"}
    made = await send_form(tess, page, f"{page}/assignments", name="W", problems="add_one", step="add", add="", **dates)
    assert made.status_code == 303


async def test_only_accounts_are_added_to_a_course(either, people):
    ada, _, tess = people
    course = await create(tess)
    person = (await ada.get("/api/v1/me")).json()["id"]
    path = f"/api/v1/courses/{course['id']}/people"
    for who, status in ((person, 204), (person, 204), ("0" * 32, 404), ("guest", 404), ("x", 404)):
        assert (await tess.put(f"{path}/{who}", headers=JSON)).status_code == status, who
    assert (await ada.put(f"{path}/{person}", headers=JSON)).status_code == 403
    assert (await tess.get(f"/courses/{course['id']}?removed={person}")).text.count("no longer in this course") == 0


async def test_what_counts_of_what_was_sent(either, people):
    ada, bob, tess = people
    course = await create(tess, late_percent=10)
    for http in (ada, bob):
        await join(http, course)
    ids = {name: await send(either, ada, GOOD) for name in ("early", "in time", "late")}
    scores = {"early": (-48, 100), "in time": (-1, 40), "late": (25.5, 90)}
    async with either.services[Database].writing() as session:
        for name, (hours, score) in scores.items():
            row = await session.get_one(AttemptRow, ids[name])
            row.created_at, row.score = now() + timedelta(hours=hours), score
    book = (await tess.get(f"/api/v1/courses/{course['id']}/gradebook")).json()
    plain = {"problem": "add_one", "points": None, "possible": 50, "late": False}
    plain |= {"changed_by_hand": False, "excused": False, "bonus": 0}
    assert [(each["name"], each["cells"], each["total"], each["percent"]) for each in book["students"]] == [
        ("ada", [plain | {"points": 36, "late": True}], 36, 72),  # 90% of 50 points, less 20% for the second day
        ("bob", [plain], 0, 0),
    ]
    first = (await tess.get(f"/api/v1/courses/{course['id']}/gradebook?limit=1")).json()
    assert ([each["name"] for each in first["students"]], first["next"]) == (["ada"], "ada")


async def test_an_assistant_reads_the_gradebook_of_the_course_and_no_other(people):
    ada, bob, tess = people
    course, other = await create(tess), await create(tess)
    for http in (ada, bob):
        await join(http, course)
        await join(http, other)
    page = f"/courses/{course['id']}"
    books = [f"{page}/gradebook", f"{page}/gradebook.csv", f"/api/v1{page}/gradebook"]
    bob_id = (await bob.get("/api/v1/me")).json()["id"]
    appointed = await send_form(tess, page, f"{page}/people/{bob_id}/role", role="assistant")
    assert appointed.status_code == 303
    assert '<span class="tag">assistant</span>' in (await tess.get(page)).text
    shown = [(await bob.get(each)).text for each in books]
    for text in shown:
        assert "ada" in text
        assert "bob" not in text.replace(">bob</a>", "")  # in the head of the page
    assert "Gradebook" in (await bob.get(page)).text
    for http, path in ((bob, other["id"]), (bob, "0" * 32), (ada, course["id"])):
        assert (await http.get(f"/courses/{path}/gradebook")).status_code == 403
        assert (await http.get(f"/api/v1/courses/{path}/gradebook", headers=JSON)).json()["slug"] == "role-missing"
    assert (await bob.get("/people")).status_code == 403
    role = f"/api/v1{page}/people/{bob_id}/role"
    assert (await tess.put(role, json={"role": "student"}, headers=JSON)).status_code == 204
    assert (await bob.get(books[0])).status_code == 403
    assert (await tess.put(role.replace(bob_id, "0" * 32), json={"role": "student"}, headers=JSON)).status_code == 404


async def test_students_see_what_has_opened(people):
    ada, _, tess = people
    course = await create(tess, opens=at(hours=1), due=at(hours=2))
    path = f"/api/v1/courses/{course['id']}/assignments"
    assert (await ada.get(path)).status_code == 404
    assert (await join(ada, course))["join_code"] is None
    assert (await ada.get(path)).json()["assignments"] == []
    assert len((await tess.get(path)).json()["assignments"]) == 1
    assert [each["name"] for each in (await ada.get("/api/v1/courses")).json()["courses"]] == ["JAX"]


async def test_a_course_outlives_who_created_it_and_a_member_is_exported(people):
    ada, _, tess = people
    course = await create(tess)
    await join(ada, course)
    exported = (await ada.get("/api/v1/me/export")).json()
    assert [each["course_id"] for each in exported["course_members"]] == [course["id"]]
    assert (await tess.delete("/api/v1/me?name=tess", headers=JSON)).status_code == 204
    assert (await ada.get(f"/courses/{course['id']}")).status_code == 200


async def test_a_spreadsheet_shows_the_csv_and_does_not_run_it(either, people):
    tess = people[2]
    course = await create(tess, name="=HYPERLINK(1)")
    async with either.services[Database].writing() as session:
        session.add(UserRow(id="f" * 32, name="-evil", role="student", created_at=now()))
        await session.flush()
        session.add(MemberRow(course_id=course["id"], user_id="f" * 32, role="student", joined_at=now()))
    answer = await tess.get(f"/courses/{course['id']}/gradebook.csv")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    rows = list(csv.reader(io.StringIO(answer.text.removeprefix("\ufeff"))))
    assert rows == [
        ["name", *IDENTITY, "'=HYPERLINK(1): add_one (50)", "total", "possible", "percent", "changed by hand"],
        ["'-evil", *([""] * len(IDENTITY)), "", "0.0", "50.0", "0.0", ""],
    ]


def test_every_beginning_of_a_formula_is_made_harmless():
    for text in ("=1", "+1", "-1", "@A", "\t=1", "\r=1"):
        [[cell]] = csv.reader(io.StringIO(csv_of([[text]]).removeprefix("\ufeff"), newline=""))
        assert cell == f"'{text}"
    assert csv_of([["a,b", 1.5, None]]) == '\ufeff"a,b",1.5,\r\n'
