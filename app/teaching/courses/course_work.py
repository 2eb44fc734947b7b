"""The assignments of a course as its page lists them: how far a student is, or how active the students are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.accounts.caller import User
from app.core.clock import now
from app.core.database import Database
from app.core.rest.list_links import SHOWN, ListLinks
from app.core.rest.paging import Cursor, Page
from app.grading.attempts.progress import Progress, progress
from app.learning.browse.catalogue_listing import State
from app.problems.catalogue import Catalogue
from app.teaching.courses.assignment_phases import ORDER, Phase, phase_for_staff, phase_of
from app.teaching.courses.course_problems import CourseProblems
from app.teaching.courses.exam_access import ends_at
from app.teaching.courses.exam_starts import ExamStarts
from app.teaching.courses.extensions import Extension, Extensions
from app.teaching.courses.gradebook import Cell, Line, columns_of, gradebook
from app.teaching.courses.last_attempts import LastAttempts
from app.teaching.courses.section_dates import SectionDates
from app.teaching.courses.service import AssignedProblem, Assignment, Course, Courses, no_assignment
from app.teaching.courses.student_dates import read_dates


@dataclass(frozen=True, slots=True)
class ListedProblem:
    """`state` and `cell` are a student's own. `is_left` says that they have neither solved it nor given up on it."""

    assigned: AssignedProblem
    state: State | None = None
    cell: Cell | None = None
    is_left: bool = False


@dataclass(frozen=True, slots=True)
class ListedAssignment:
    """`due_at` and `extension` are a student's own. `last_at` is when a student last submitted, for staff."""

    assignment: Assignment
    phase: Phase
    due_at: datetime
    problems: tuple[ListedProblem, ...]
    extension: Extension | None = None
    last_at: datetime | None = None

    @property
    def id(self) -> str:
        return self.assignment.id

    @property
    def solved(self) -> int:
        return sum(each.state == "solved" for each in self.problems)

    @property
    def earned(self) -> float:
        return sum((each.cell.points or 0) if each.cell else 0 for each in self.problems)

    @property
    def possible(self) -> float:
        return sum(each.cell.possible if each.cell else 0 for each in self.problems)


@dataclass(frozen=True, slots=True)
class NextStep:
    """The `problem` that a student continues or begins. Without one, they start the exam."""

    listed: ListedAssignment
    problem: ListedProblem | None


def next_step(assignments: Sequence[ListedAssignment]) -> NextStep | None:
    """The first problem that is left, in the order of the assignments, of those that still count."""
    for each in assignments:
        if each.phase not in ("open", "late"):
            continue
        if each.assignment.needs_start and not each.problems:
            return NextStep(each, None)
        left = next((it for it in each.problems if it.is_left), None)
        if left is not None:
            return NextStep(each, left)
    return None


class CourseWork:
    """The assignments of a course, as one of its members sees them. Safe to share between requests."""

    def __init__(
        self,
        database: Database,
        catalogue: Catalogue,
        courses: Courses,
        starts: ExamStarts,
        dates: SectionDates,
        extensions: Extensions,
        problems: CourseProblems,
        last: LastAttempts,
    ) -> None:
        self._database, self._catalogue, self._courses = database, catalogue, courses
        self._starts, self._dates, self._extensions = starts, dates, extensions
        self._problems, self._last = problems, last

    async def arrange(self, user: User, course: Course, q: str, after: str | None) -> dict[str, Any]:
        """Values for the template. `q` and `after` narrow the assignments down."""
        is_student = not (course.is_taught or course.is_assisted)
        found = await self._courses.assignments(course)
        if is_student:
            listed, line = await self._of_student(user, course, found)
        else:
            listed, line = await self._for_staff(course, found), None
        listed.sort(key=_place)
        named = [each for each in listed if each.assignment.is_named(q)]
        page = Page.part(named, Cursor(SHOWN, after), lambda each: each.id, no_assignment)
        grade = line.grade if line else None
        return {
            "is_student": is_student,
            "assignments": page,
            "links": ListLinks(f"/courses/{course.id}", page, after, {"q": q}),
            "next_step": next_step(listed) if is_student else None,
            "has_open": any(each.phase in ("open", "late") for each in listed),
            "dropped": [each.assignment.name for each in listed if grade and each.id in grade.dropped],
            "grade": grade,
            "titles": self._catalogue.titles(),
            "warnings": {
                each.id: await self._problems.warnings([it.assigned.problem for it in each.problems])
                for each in page
                if each.assignment.is_exam and course.is_taught
            },
            "answered": {each.slug for each in self._catalogue.all() if each.manifest.mode == "answer"},
        }

    async def _of_student(
        self, user: User, course: Course, found: Sequence[Assignment]
    ) -> tuple[list[ListedAssignment], Line | None]:
        """Those that have opened, and the student's line of the gradebook."""
        moment = now()
        every = await self._starts.shown_to(user, course, found)
        every = await self._dates.for_student(course, user, every)
        opened = [each for each in every if each.opens_at <= moment]
        columns = columns_of(opened)
        line = next(iter(await gradebook(self._database, course, columns, only=user.id)), None)
        cells = {
            (column.assignment.id, column.problem): cell
            for column, cell in zip(columns, line.cells if line else (), strict=False)
        }
        reached = await progress(self._database, user)
        extensions = await self._extensions.of_student(course, user)
        started = await self._starts.started(user)
        listed = [
            _listed(course, each, extensions.get(each.id), started.get(each.id), reached, cells, moment)
            for each in opened
        ]
        return listed, line

    async def _for_staff(self, course: Course, found: Sequence[Assignment]) -> list[ListedAssignment]:
        moment = now()
        async with self._database.reading() as session:
            dates = await read_dates(session, course.id)
        last = await self._last.by_assignment(course)
        listed = [
            ListedAssignment(
                assignment=each,
                phase=phase_for_staff(course, each, dates, moment),
                due_at=each.due_at,
                problems=tuple(map(ListedProblem, each.problems)),
                last_at=last.get(each.id),
            )
            for each in found
        ]
        # An assistant sees an assignment once it has opened.
        return listed if course.is_taught else [each for each in listed if each.assignment.opens_at <= moment]


def _listed(
    course: Course,
    assignment: Assignment,
    extension: Extension | None,
    started_at: datetime | None,
    reached: Mapping[str, Progress],
    cells: Mapping[tuple[str, str], Cell],
    moment: datetime,
) -> ListedAssignment:
    due_at = assignment.due_at + extension.extra_time if extension else assignment.due_at
    phase = phase_of(course, assignment, due_at, moment)
    if assignment.needs_start and started_at is not None:
        extra = extension.extra_minutes if extension else 0
        end = ends_at(assignment.due_at, assignment.duration_minutes, extra, started_at)
        due_at, phase = min(due_at, end), "closed" if moment >= end else phase
    return ListedAssignment(
        assignment=assignment,
        phase=phase,
        due_at=due_at,
        problems=tuple(
            _with_progress(each, reached.get(each.problem), cells.get((assignment.id, each.problem)))
            for each in assignment.problems
        ),
        extension=extension,
    )


def _with_progress(assigned: AssignedProblem, reached: Progress | None, cell: Cell | None) -> ListedProblem:
    state: State = "new" if reached is None else "solved" if reached.accepted else "tried"
    is_excused = cell is not None and cell.is_excused
    return ListedProblem(assigned, state, cell, is_left=not is_excused and not (reached and reached.is_over))


def _place(each: ListedAssignment) -> tuple[int, float, str]:
    """What can be worked on first, by its due time. What has closed comes last, the latest first."""
    due = each.due_at.timestamp()
    return ORDER.index(each.phase), -due if each.phase == "closed" else due, each.id
