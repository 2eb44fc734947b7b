"""The page of a course says where each assignment stands, how far a student is, and what comes next."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast

import pytest
from sqlalchemy import event

from app.core.database import Database
from app.teaching.courses.assignment_phases import phase_for_staff, phase_of
from app.teaching.courses.course_work import ListedAssignment, ListedProblem, next_step
from app.teaching.courses.service import AssignedProblem, Assignment, Course
from app.teaching.courses.student_dates import StudentDates
from tests.app.accounts.people import browser, sign_up
from tests.app.teaching.courses.test_courses import JSON, at, create, join, people
from tests.app.teaching.courses.test_exam_starts import make, start
from tests.app.teaching.people.test_attempts_of_others import GOOD, send

__all__ = ["people"]
DUE = datetime.fromisoformat("2026-03-10T12:00:00Z")
DAY = timedelta(days=1)
COURSE = Course("c", "JAX", "UTC", "code", DUE)


@pytest.fixture
async def people_of_service(service):
    """Browsers of two students and an instructor."""
    async with browser(service) as ada, browser(service) as bob, browser(service) as tess:
        for name, http in (("ada", ada), ("bob", bob)):
            await sign_up(service, http, name)
        await sign_up(service, tess, "tess", "instructor")
        yield ada, bob, tess


def assignment(name: str = "Week", late_percent: int | None = None, **fields: object) -> Assignment:
    problems = tuple(AssignedProblem(f"{name}-{each}", 10) for each in ("a", "b"))
    return Assignment(name, name, DUE - 5 * DAY, DUE, late_percent, problems, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("late_percent", "days", "phase"),
    [(None, -6, "planned"), (None, 0, "open"), (None, 1, "closed"), (50, 1, "late"), (50, 3, "closed")],
)
def test_an_assignment_is_open_while_something_counts(late_percent, days, phase):
    assert phase_of(COURSE, assignment(late_percent=late_percent), DUE, DUE + days * DAY) == phase


def test_the_assignments_of_an_archived_course_are_closed():
    archived = Course("c", "JAX", "UTC", "code", DUE, archived_at=DUE)
    assert phase_of(archived, assignment(), DUE, DUE - DAY) == "closed"


@pytest.mark.parametrize(
    ("dates", "days", "phase"),
    [
        (StudentDates(sections={("Week", "A"): (DUE - 9 * DAY, DUE)}), -8, "open"),
        (StudentDates(sections={("Week", "A"): (DUE, DUE + 3 * DAY)}), 2, "extended"),
        (StudentDates(extra={("ada", "Week"): 3 * DAY}), 2, "extended"),
        (StudentDates(extra={("ada", "Other"): 3 * DAY}), 2, "closed"),
    ],
)
def test_staff_see_that_an_assignment_is_open_for_some(dates, days, phase):
    assert phase_for_staff(COURSE, assignment(), dates, DUE + days * DAY) == phase


def listed(phase: str, *left: bool, **fields: object) -> ListedAssignment:
    it = assignment(phase, **fields)
    problems = (ListedProblem(each, is_left=is_left) for each, is_left in zip(it.problems, left, strict=False))
    return ListedAssignment(it, phase, DUE, tuple(problems))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("assignments", "problem"),
    [
        ([listed("open", True, True)], "open-a"),
        ([listed("open", False, True)], "open-b"),
        ([listed("open", False, False), listed("late", True, True)], "late-a"),
        ([listed("open", False, False), listed("closed", True, True)], None),
    ],
)
def test_the_next_step_is_the_first_problem_that_is_left(assignments, problem):
    step = next_step(assignments)
    assert (step and step.problem and step.problem.assigned.problem) == problem


def test_an_exam_is_started_before_its_problems():
    step = next_step([listed("open", is_exam=True, duration_minutes=30), listed("late", True, True)])
    assert (step.listed.phase, step.problem) == ("open", None)


@dataclass(frozen=True)
class Seen:
    """What the page of a course says about its only assignment."""

    phase: str
    figures: list[str]
    button: str | None

    @classmethod
    async def by(cls, http, course: dict) -> "Seen":
        page = re.sub(r"<svg.*?</svg>", "", (await http.get(f"/courses/{course['id']}")).text, flags=re.DOTALL)
        head = page.partition('class="assignment-head"')[2].partition("</ul>")[0]
        [phase, *figures] = (text(each) for each in re.findall(r"<li>(.*?)</li>", head, re.DOTALL))
        button = re.search(r'<a class="button primary"[^>]*>(.*?)</a>', page, re.DOTALL)
        return cls(phase, figures, text(button[1]) if button else None)


def text(html: str) -> str:
    return " ".join(cast(str, re.sub(r"<[^>]+>", "", html)).split())


@pytest.mark.anyio
async def test_a_student_reads_how_far_they_are_and_staff_how_active_the_class_is(either, people):
    ada, _, tess = people
    course = await create(tess, due=at(days=3, hours=1))
    await join(ada, course)
    assert await Seen.by(ada, course) == Seen("due in 3 days", ["0 of 1 solved", "0 of 50 points"], "Begin Add one")
    assert await Seen.by(tess, course) == Seen("due in 3 days", ["1 problem, 50 points", "no attempts yet"], None)
    await send(either, ada, "# wrong")
    assert (await Seen.by(ada, course)).button == "Continue Add one"
    await send(either, ada, GOOD)
    page = (await ada.get(f"/courses/{course['id']}")).text
    assert 'class="state is-solved"' in page
    assert "Nothing is left to do" in page
    assert await Seen.by(ada, course) == Seen("due in 3 days", ["1 of 1 solved", "50 of 50 points"], None)
    assert (await Seen.by(tess, course)).figures[1] == "last attempt just now"


@pytest.mark.anyio
async def test_an_exam_hides_the_state_as_it_hides_the_verdict(either, people):
    ada, _, tess = people
    course = await create(tess, exam=True, due=at(days=3, hours=1))
    await join(ada, course)
    await send(either, ada, GOOD)
    seen = await Seen.by(ada, course)
    assert (seen.phase, seen.figures) == ("exam running, closes in 3 days", ["0 of 1 solved", "0 of 50 points"])
    assert seen.button == "Continue Add one"


@pytest.mark.anyio
async def test_a_student_of_an_exam_reads_when_their_own_time_ends(either, people):
    ada, _, tess = people
    course, path = await make(either, tess, due=at(days=5), duration_minutes=36 * 60)
    await join(ada, course)
    assert (await Seen.by(ada, course)).button == "Open the exam"
    await start(ada, path)
    assert (await Seen.by(ada, course)).phase == "exam running, closes in 1 day"


@pytest.mark.anyio
async def test_what_has_closed_comes_last_and_folded(people):
    ada, _, tess = people
    course = await create(tess, name="Past", opens=at(days=-3), due=at(days=-1))
    body = {"name": "Now", "opens": at(days=-1), "due": at(days=1), "problems": [{"problem": "add_one"}]}
    await tess.post(f"/api/v1/courses/{course['id']}/assignments", json=body, headers=JSON)
    await join(ada, course)
    for http in (ada, tess):
        page = (await http.get(f"/courses/{course['id']}")).text
        assert re.findall(r">(Now|Past)</h2>", page) == ["Now", "Past"]
        folded = page.partition("Past</h2>")[2]
        assert folded.index("<details><summary>Problems") < folded.index('href="/problems/add_one"')


@pytest.mark.anyio
async def test_the_list_of_courses_says_what_is_open_and_when_someone_was_active(either, people):
    ada, bob, tess = people
    course = await create(tess, due=at(days=3, hours=1))
    path = f"/courses/{course['id']}"
    [made] = (await tess.get(f"/api/v1{path}/assignments")).json()["assignments"]
    await join(ada, course)
    await join(bob, course)
    person = (await ada.get("/api/v1/me")).json()["id"]
    extra = {"extra_minutes": 24 * 60, "reason": "ill"}
    extended = await tess.put(f"/api/v1{path}/assignments/{made['id']}/extensions/{person}", json=extra, headers=JSON)
    assert extended.status_code == 204, extended.text
    await send(either, ada, GOOD)
    figures = {}
    for name, http in (("ada", ada), ("bob", bob), ("tess", tess)):
        page = (await http.get("/courses")).text
        about = page.partition('class="items"')[2].partition('class="meta"')[2]
        figures[name] = [text(each) for each in re.findall(r"<li>(.*?)</li>", about)]
        assert (f'href="{path}/gradebook"' in page) is (name == "tess")
    assert figures["ada"] == ["1 assignment open, due in 4 days", "last attempt just now"]
    assert figures["bob"] == ["1 assignment open, due in 3 days", "no attempts yet"]
    assert figures["tess"] == ["1 assignment open, due in 3 days", "2 people", "last attempt just now"]


@pytest.mark.anyio
async def test_the_last_attempts_of_a_list_take_one_statement(service, people_of_service):
    ada, bob, tess = people_of_service
    course, other = await create(tess), await create(tess)
    for each in (course, other):
        for http in (ada, bob):
            await join(http, each)
    for http in (ada, bob):
        await send(service, http, GOOD)
    statements: list[str] = []
    engine = service.services[Database].engine.sync_engine
    event.listen(engine, "before_cursor_execute", lambda *args: statements.append(args[2]))
    # The page of a course has two lists: its assignments and its members.
    here = f"/courses/{course['id']}"
    for path, rows, lists in (("/courses", 2, 1), (f"{here}/people", 2, 1), (here, 3, 2)):
        statements.clear()
        page = (await tess.get(path)).text
        assert page.count("last attempt <time") == rows
        assert len([each for each in statements if "max(attempts.created_at)" in each]) == lists
