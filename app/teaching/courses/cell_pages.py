"""A cell of the gradebook: its page with a form for each thing that is given by hand, and the same over REST."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from starlette.responses import HTMLResponse

from app.accounts.audit.log import ACTION_WORDS, LONGEST_REASON, Action, AuditEntry, AuditLog
from app.accounts.caller import User
from app.accounts.web import Grader
from app.core.database import Database
from app.core.errors import Refused
from app.core.rest.actions import Actions, PageOf, TypedPage
from app.core.rest.problem_json import problem_responses
from app.core.services import Provided
from app.core.web.templating import render_page
from app.grading.queue.withheld_verdicts import withheld_of
from app.problems.catalogue import Catalogue
from app.teaching.courses.cell_schemas import FullCellJSON, MarkForm, NewCellJSON
from app.teaching.courses.cells import Cells, CellView, NewMark, where
from app.teaching.courses.course_in_path import GradedCourse
from app.teaching.courses.due_dates import to_local
from app.teaching.courses.grade_arithmetic import Role, shown_points
from app.teaching.courses.gradebook import seen_by_staff
from app.teaching.courses.marks import KINDS, Kind
from app.teaching.courses.service import MOST_POINTS, Course, Courses

_PATH = "/courses/{course_id}/assignments/{assignment_id}/cells/{slug}/{person_id}"
_ROLE_WORDS: dict[Role, str] = {
    "counts": "counts",
    "before-opening": "does not count: sent before the assignment opened",
    "closed": "does not count: sent when nothing counts any more",
    "worth-nothing": "does not count: too late to be worth anything",
    "less": "does not count: another attempt gives as many points or more",
    "earlier": "does not count: a later attempt does",
}
if set(_ROLE_WORDS) != set(get_args(Role)):
    raise AssertionError("each role of an attempt needs words")


class CellsByPath:
    """The cells of gradebooks as a path names them. Safe to share between requests."""

    def __init__(self, database: Database, courses: Courses, cells: Cells, audit: AuditLog) -> None:
        self._database, self._courses, self._cells, self._audit = database, courses, cells, audit

    async def read(
        self, course: Course, assignment_id: str, problem: str, person_id: str
    ) -> tuple[CellView, list[AuditEntry]]:
        """The cell, and what the audit log says about it."""
        assignment = await self._courses.assignment(course, assignment_id)
        view = await self._cells.read(course, assignment, problem, person_id)
        endings: dict[Action, str] = {"cell-changed": where(assignment, problem), "score-changed": f" at {problem}"}
        history = await self._audit.of_person(view.person.id, endings)
        async with self._database.reading() as session:
            withheld = await withheld_of(session, view.person.id, seen=await seen_by_staff(session, course))
        return view, [each for each in history if not withheld.names_one([each.detail])]

    async def change(
        self,
        user: User,
        course: Course,
        assignment_id: str,
        problem: str,
        person_id: str,
        marks: Mapping[Kind, NewMark | None],
    ) -> None:
        assignment = await self._courses.assignment(course, assignment_id)
        await self._cells.change(user, course, assignment, problem, person_id, marks)


@dataclass(frozen=True)
class CellPage(TypedPage):
    course: GradedCourse
    user: Grader
    assignment_id: str
    slug: str
    person_id: str
    cells: Provided[CellsByPath]
    catalogue: Provided[Catalogue]

    async def show(self, form: dict[str, str], refusal: Refused | None = None) -> HTMLResponse:
        """`form` is what was typed into one that was refused."""
        view, history = await self.cells.read(self.course, self.assignment_id, self.slug, self.person_id)
        column = view.column
        return render_page(
            "teaching/courses/cell.html",
            user=self.user,
            course=view.course,
            column=column,
            title=self.catalogue.title_of(column.problem),
            view=view,
            cell=view.cell,
            marks={each.kind: each for each in view.cell.marks},
            points_alone=lambda each: shown_points(column.points * each.share),
            role_words=_ROLE_WORDS,
            local=lambda each: f"{to_local(each, view.course.time_zone):%a %-d %b %Y, %H:%M}",
            history=history,
            words=ACTION_WORDS,
            here=f"/courses/{view.course.id}/assignments/{column.assignment.id}/cells/{column.problem}/{view.person.id}",
            form=form,
            refusal=refusal,
            most_points=MOST_POINTS,
            longest_reason=LONGEST_REASON,
        )


actions = Actions("courses", CellPage)


@actions.api.get(_PATH, summary="A cell of the gradebook, for those who read it")
async def get_cell(
    course: GradedCourse, assignment_id: str, slug: str, person_id: str, cells: Provided[CellsByPath]
) -> FullCellJSON:
    return FullCellJSON.full(*await cells.read(course, assignment_id, slug, person_id))


@actions.api.put(
    _PATH,
    summary="Replace what is given by hand to a cell of the gradebook",
    responses=problem_responses(409),
)
async def put_cell(
    course: GradedCourse,
    user: Grader,
    assignment_id: str,
    slug: str,
    person_id: str,
    body: NewCellJSON,
    cells: Provided[CellsByPath],
) -> FullCellJSON:
    await cells.change(user, course, assignment_id, slug, person_id, body.marks())
    return FullCellJSON.full(*await cells.read(course, assignment_id, slug, person_id))


@actions.api.delete(_PATH, status_code=204, summary="Take back all that is given by hand to a cell of the gradebook")
async def clear_cell(
    course: GradedCourse,
    user: Grader,
    assignment_id: str,
    slug: str,
    person_id: str,
    cells: Provided[CellsByPath],
) -> None:
    await cells.change(user, course, assignment_id, slug, person_id, dict.fromkeys(KINDS))


@actions.pages.get(_PATH)
async def show_cell(page: PageOf[CellPage]) -> HTMLResponse:
    return await page.show({})


@actions.form(_PATH, then=f"{_PATH}#{{result}}")
async def change_cell(
    course: GradedCourse,
    user: Grader,
    assignment_id: str,
    slug: str,
    person_id: str,
    body: MarkForm,
    cells: Provided[CellsByPath],
) -> Kind:
    """Returns the kind of the mark, which is where it is on the page."""
    await cells.change(user, course, assignment_id, slug, person_id, {body.kind: body.mark()})
    return body.kind
