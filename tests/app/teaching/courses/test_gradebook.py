"""The gradebook: what counts by whom, filters, files, and the statistics of an assignment."""

import io
import re
import zipfile
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.accounts.caller import User
from app.accounts.models import UserRow
from app.core.clock import now
from app.core.database import Database
from app.core.ids import new_id
from app.grading.queue.models import AttemptRow
from app.teaching.courses.due_dates import credit
from app.teaching.courses.grade_arithmetic import POINT, Part, Points, total
from app.teaching.courses.gradebook import Cell, Column, Line, LineFilter
from app.teaching.courses.models import ExtensionRow, MemberRow, RosterLineRow
from app.teaching.courses.roster_lines import NOT_SENT
from app.teaching.courses.schemas import GradebookPage
from app.teaching.courses.service import AssignedProblem, Assignment, Courses
from app.teaching.courses.spreadsheet import xlsx_of
from app.teaching.courses.statistics import statistics_of
from tests.app.teaching.courses.test_courses import IDENTITY, at, create, join, people
from tests.app.teaching.people.test_attempts_of_others import GOOD, send

pytestmark = pytest.mark.anyio
__all__ = ["people"]
DUE = datetime(2026, 1, 19, 23, 59, tzinfo=UTC)
OPENS = DUE - timedelta(days=7)


async def test_of_many_attempts_the_one_that_gives_the_most_counts(either, people):
    """The database groups attempts; every attempt for itself must give the same."""
    ada, _, tess = people
    course = await create(tess, late_percent=10, opens=at(days=-9), due=at(days=-5))
    await join(ada, course)
    [assignment] = await either.services[Courses].assignments(
        await either.services[Courses].get(await _user(either, tess), course["id"])
    )
    sent = [(-24, 90), (-3, 60), (0, 60), (2, 70), (20, 95), (30, 95), (50, 100), (51, 99), (-24 * 20, 100)]
    attempt = await send(either, ada, GOOD)
    async with either.services[Database].writing() as session:
        first = await session.get_one(AttemptRow, attempt)
        for number, (hours, score) in enumerate(sent):
            moment = assignment.due_at + timedelta(hours=hours)
            values = {each.name: getattr(first, each.name) for each in AttemptRow.__table__.columns}
            session.add(AttemptRow(**values | {"id": f"{number:032}", "created_at": moment, "score": score}))
        await session.delete(first)
    counted = [
        score * credit(moment, assignment.due_at, 10, "UTC")
        for hours, score in sent
        if (moment := assignment.due_at + timedelta(hours=hours)) >= assignment.opens_at
    ]
    page = GradebookPage.model_validate((await tess.get(f"/api/v1/courses/{course['id']}/gradebook")).json())
    assert page.students[0].cells[0].points == round(50 * max(counted) / 10_000, 2)


@pytest.mark.parametrize(
    ("extra", "seconds", "expected"),
    [(0, 30, (50, False)), (0, 60, (25, True)), (20, 20 * 60 + 59, (50, False)), (20, 21 * 60, (25, True))],
)
async def test_a_deadline_includes_its_minute(either, people, extra, seconds, expected):
    ada, _, tess = people
    course = await create(tess, late_percent=50, opens=at(days=-9), due=at(days=-5))
    await join(ada, course)
    attempt = await send(either, ada, GOOD)
    courses = either.services[Courses]
    [assignment] = await courses.assignments(await courses.get(await _user(either, tess), course["id"]))
    async with either.services[Database].writing() as session:
        row = await session.get_one(AttemptRow, attempt)
        row.created_at = assignment.due_at + timedelta(seconds=seconds)
        if extra:
            values = {"assignment_id": assignment.id, "user_id": row.user_id}
            session.add(ExtensionRow(**values, extra_minutes=extra, extra_attempts=0, reason="ill"))
    page = GradebookPage.model_validate((await tess.get(f"/api/v1/courses/{course['id']}/gradebook")).json())
    [cell] = page.students[0].cells
    assert (cell.points, cell.late) == expected


async def _user(either, http):
    mine = (await http.get("/api/v1/me")).json()
    return User(mine["id"], mine["name"], mine["role"])


async def test_filters_find_the_same_on_the_page_and_over_rest(either, people, monkeypatch):
    ada, bob, tess = people
    course = await create(tess)
    for http in (ada, bob):
        await join(http, course)
    await send(either, ada, GOOD)
    monkeypatch.setattr("app.teaching.courses.gradebook._AT_ONCE", 1)
    path = f"/courses/{course['id']}/gradebook"
    for page_query, query, expected in (
        ("q=DA", "q=DA", ["ada"]),
        ("q=%25", "q=%25", []),
        ("missing=on", "missing=true", ["bob"]),
        ("below=100", "below=100", ["bob"]),
        ("q=a&missing=on", "q=a&missing=true", []),
        ("below=x&missing=", "", ["ada", "bob"]),
    ):
        found = (await tess.get(f"/api/v1{path}?{query}")).json()
        assert [each["name"] for each in found["students"]] == expected, query
        page = (await tess.get(f"{path}?{page_query}")).text
        assert [name for name in ("ada", "bob") if f">{name}</a></th>" in page] == expected, page_query
    assert "No student matches" in (await tess.get(f"{path}?q=nobody")).text
    first = (await tess.get(f"/api/v1{path}?below=100&limit=1")).json()
    assert (len(first["students"]), first["next"]) == (1, None)
    assert (await tess.get(f"/api/v1{path}?below=0")).status_code == 422


async def test_the_page_is_sorted_by_what_its_head_offers(either, people, monkeypatch):
    ada, bob, tess = people
    course = await create(tess)
    for http in (ada, bob):
        await join(http, course)
    await send(either, bob, GOOD)
    path = f"/courses/{course['id']}/gradebook"
    for sort, expected, direction in (
        ("", ["ada", "bob"], "ascending"),
        ("-name", ["bob", "ada"], "descending"),
        ("-total", ["bob", "ada"], "descending"),
        ("total", ["ada", "bob"], "ascending"),
        ("-percent", ["bob", "ada"], "descending"),
        # Nothing submitted is last in both directions.
        ("1", ["bob", "ada"], "ascending"),
        ("-1", ["bob", "ada"], "descending"),
        ("2", ["ada", "bob"], "ascending"),
        ("x", ["ada", "bob"], "ascending"),
    ):
        page = (await tess.get(f"{path}?sort={sort}")).text
        assert re.findall(r">(ada|bob)</a></th>", page) == expected, sort
        assert page.count(f'aria-sort="{direction}"') == 1, sort
    monkeypatch.setattr("app.teaching.courses.gradebook_pages.SHOWN", 1)
    first = (await tess.get(f"{path}?sort=-total&q=b")).text
    assert re.findall(r">(ada|bob)</a></th>", first) == ["bob"]
    first = (await tess.get(f"{path}?sort=-total")).text
    assert f'href="{path}?sort=-total&amp;after=1"' in first
    assert re.findall(r">(ada|bob)</a></th>", (await tess.get(f"{path}?sort=-total&after=1")).text) == ["ada"]


async def test_students_are_sorted_by_real_name(either, people):
    """The family name on the roster, else the name there, else that of the account; the files have the same order."""
    tess = people[2]
    course = await create(tess)
    known = {
        "a1": ("Zoe Zweig", "Zweig"),
        "b2": ("Adam Zweig", "Zweig"),
        "c3": ("Karl Meier", ""),
        "d4": ("Ida de Boer", "de Boer"),
        "e5": ("", ""),
    }
    async with either.services[Database].writing() as session:
        for name, (real, family) in known.items():
            session.add(UserRow(id=f"{name:0>32}", name=name, role="student", created_at=now(), in_rankings=True))
            await session.flush()
            in_course = {"course_id": course["id"], "user_id": f"{name:0>32}", "role": "student"}
            session.add(MemberRow(**in_course, joined_at=now()))
            if name != "e5":
                session.add(
                    RosterLineRow(id=new_id(), **in_course, name=real, family_name=family, created_at=now(), **NOT_SENT)
                )
    expected = ["d4", "e5", "c3", "b2", "a1"]
    path = f"/courses/{course['id']}/gradebook"

    async def listed(limit: int, **narrowing: object) -> list[str]:
        found, after = [], None
        while True:
            query = narrowing | {"limit": limit} | ({"after": after} if after else {})
            page = (await tess.get(f"/api/v1{path}", params=query)).json()
            found += [each["name"] for each in page["students"]]
            after = page["next"]
            if after is None:
                return found

    assert await listed(100) == expected
    assert await listed(2) == expected
    assert await listed(1, missing=True) == expected
    assert await listed(2, sort="-name") == expected[::-1]
    assert await listed(2, sort="-total") == expected
    for sort in ("2", "-99"):
        refused = await tess.get(f"/api/v1{path}", params={"sort": sort})
        assert (refused.status_code, refused.json()["slug"]) == (422, "field-invalid"), refused.text
    assert (await tess.get(f"/api/v1{path}", params={"after": "nobody"})).status_code == 404

    assert re.findall(r'scope="row"><a href="[^"]+">(\w\d)</a>', (await tess.get(path)).text) == expected
    for query, order in (("", expected), ("?sort=-name", expected[::-1])):
        rows = (await tess.get(f"{path}.csv{query}")).text.splitlines()[1:]
        assert [each.partition(",")[0] for each in rows] == order
        book = (await tess.get(f"{path}.xlsx{query}")).content
        text = zipfile.ZipFile(io.BytesIO(book)).read("xl/sharedStrings.xml").decode()
        assert re.findall(r">([a-e]\d)<", text) == order
    in_reverse = (await tess.get(f"{path}?sort=-name")).text.replace("&amp;", "&")
    assert f'href="{path}.csv?sort=-name"' in in_reverse
    assert f'href="{path}.csv?for=canvas&sort=-name"' in in_reverse


async def test_a_cell_says_its_state_in_text_and_colour(either, people):
    ada, bob, tess = people
    course = await create(tess, opens=at(days=-2), due=at(hours=-1), late_percent=50)
    for http in (ada, bob):
        await join(http, course)
    await send(either, ada, GOOD)
    page = (await tess.get(f"/courses/{course['id']}/gradebook")).text
    assert re.search(r'<td data-state="part"><a href="[^"]+/cells/add_one/\w+">25<.+?</a> <abbr title="late"', page)
    assert re.search(r'<td data-state="missing"><a href="[^"]+">.<span.+?</a> <abbr title="missing"', page)


async def test_a_workbook_has_numbers_as_numbers_and_formulas_as_text(either, people):
    ada, _, tess = people
    course = await create(tess, name="=HYPERLINK(1)")
    await join(ada, course)
    await send(either, ada, GOOD)
    async with either.services[Database].writing() as session:
        session.add(UserRow(id="f" * 32, name="=1+1", role="student", created_at=now()))
        await session.flush()
        session.add(MemberRow(course_id=course["id"], user_id="f" * 32, role="student", joined_at=now()))
    path = f"/courses/{course['id']}/gradebook.xlsx"
    answer = await tess.get(path)
    assert answer.headers["content-disposition"] == 'attachment; filename="gradebook.xlsx"'
    assert answer.headers["cache-control"] == "no-store"
    nothing = [None] * len(IDENTITY)
    assert cells_of(answer.content) == [
        ["name", *IDENTITY, "=HYPERLINK(1): add_one (50)", "total", "possible", "percent", "changed by hand"],
        ["=1+1", *nothing, None, 0.0, 50.0, 0.0, None],
        ["ada", *nothing, 50.0, 50.0, 50.0, 100.0, None],
    ]
    assert (await ada.get(path)).status_code == 403


def cells_of(workbook: bytes) -> list[list[object]]:
    """The cells of the only sheet. A formula fails."""
    space = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    with zipfile.ZipFile(io.BytesIO(workbook)) as files:
        texts = ["".join(each.itertext()) for each in ElementTree.fromstring(files.read("xl/sharedStrings.xml"))]
        sheet = ElementTree.fromstring(files.read("xl/worksheets/sheet1.xml"))
    assert not list(sheet.iter(f"{space}f"))
    rows = []
    for row in sheet.iter(f"{space}row"):
        cells: list[object] = [None] * (6 + len(IDENTITY))
        for cell in row:
            value = cell.find(f"{space}v")
            if value is not None:
                number = float(value.text)
                cells[ord(cell.get("r")[0]) - ord("A")] = texts[int(number)] if cell.get("t") == "s" else number
        rows.append(cells)
    return rows


def test_a_sheet_keeps_its_head_and_names_in_sight():
    with zipfile.ZipFile(io.BytesIO(xlsx_of(["name"], [["ada"]], "Gradebook"))) as files:
        assert b'state="frozen"' in files.read("xl/worksheets/sheet1.xml")


def column(points: int = 100) -> Column:
    return Column(Assignment("a", "Week 1", OPENS, DUE, None, (AssignedProblem("p", points),)), "p", points)


def cell(points: float | None, possible: int = 100, *, has_opened: bool = True) -> Cell:
    earned = None if points is None else round(points * POINT)
    return Cell(Points(earned, possible * POINT), has_opened=has_opened)


def line(*cells: Cell, name: str = "ada") -> Line:
    opened = [each for each in cells if each.has_opened]
    parts = [Part(str(place), each.amounts.earned or 0, each.amounts.possible) for place, each in enumerate(opened)]
    return Line(name, name, cells, total(parts))


@pytest.mark.parametrize(
    ("matching", "points", "expected"),
    [
        (LineFilter(is_missing=True), (10.0, None), True),
        (LineFilter(is_missing=True), (0.0, 0.0), False),
        (LineFilter(below=50), (50.0, 50.0), False),
        (LineFilter(below=50), (50.0, 49.0), True),
        (LineFilter(below=50), (None, None), True),
    ],
)
def test_what_has_opened_decides_whether_somebody_matches(matching, points, expected):
    cells = [cell(each) for each in points]
    assert matching.matches(line(*cells)) is expected
    assert matching.matches(line(*cells, cell(None, has_opened=False))) is expected


def test_statistics_are_of_those_who_submitted():
    columns = [column(50), column(100)]
    points = {"a": (50.0, 100.0), "b": (10.0, None), "c": (None, None), "d": (0.0, 75.0)}
    lines = [line(cell(one, 50), cell(other), name=name) for name, (one, other) in points.items()]
    found = statistics_of(columns, lines)
    assert (found.students, found.total.submitted) == (4, 3)
    assert [each.name for each in found.not_started] == ["c"]
    first, second = found.problems
    assert (first.submitted, first.median, first.mean) == (3, 10, 20)
    assert [each.students for each in first.parts] == [2, 0, 0, 0, 1]
    assert [each.students for each in second.parts] == [0, 0, 0, 1, 1]
    empty = statistics_of(columns, [])
    assert (empty.total.median, empty.total.mean, empty.not_started) == (None, None, ())


@given(st.lists(st.one_of(st.none(), st.floats(0, 100)), min_size=1, max_size=30))
def test_every_student_is_in_one_part_or_has_not_started(points):
    found = statistics_of([column()], [line(cell(each), name=str(number)) for number, each in enumerate(points)])
    assert sum(each.students for each in found.total.parts) + len(found.not_started) == len(points)


async def test_the_page_of_statistics_names_who_has_not_started(either, people):
    ada, bob, tess = people
    course = await create(tess)
    for http in (ada, bob):
        await join(http, course)
    await send(either, ada, GOOD)
    [assignment] = (await tess.get(f"/api/v1/courses/{course['id']}/assignments")).json()["assignments"]
    path = f"/courses/{course['id']}/assignments/{assignment['id']}/statistics"
    page = (await tess.get(path)).text
    for words in ("1 of 2 students submitted", "their median is 50", "1 student has submitted nothing", ">bob</a>"):
        assert words in page
    assert (await ada.get(path)).status_code == 403
    assert (await tess.get(path.replace(assignment["id"], "0" * 32))).status_code == 404
