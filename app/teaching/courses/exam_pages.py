"""The page on which a student starts an exam and finds its problems, and the same over REST."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends
from pydantic import Field
from starlette.responses import HTMLResponse, Response

from app.accounts.web import Reader, Submitter
from app.core.clock import now
from app.core.errors import Refused
from app.core.rest.actions import AS_TYPED, Actions, FormPage, PageOf, Typed
from app.core.rest.body import RequestBody
from app.core.rest.problem_json import problem_responses
from app.core.services import Provided
from app.core.web.templating import render_page
from app.problems.catalogue import Catalogue
from app.teaching.courses.assignments import LONGEST_PASSWORD
from app.teaching.courses.course_in_path import JoinedCourse
from app.teaching.courses.due_dates import to_local
from app.teaching.courses.exam_starts import ExamStart, ExamStarts
from app.teaching.courses.section_dates import SectionDates
from app.teaching.courses.service import Assignment, Course, Courses, no_assignment

Exam = tuple[Course, Assignment]


class ExamPasswordJSON(RequestBody):
    """Empty if the exam has no password."""

    password: Annotated[str, AS_TYPED] = Field("", max_length=LONGEST_PASSWORD)


async def _exam_in_path(
    course: JoinedCourse, assignment_id: str, user: Reader, courses: Provided[Courses], dates: Provided[SectionDates]
) -> Exam:
    """Students do not see an assignment before it opens. Raises `CourseNotFound` and `AssignmentNotFound`."""
    assignment = await courses.assignment(course, assignment_id)
    [for_them] = await dates.for_student(course, user, [assignment])
    if for_them.opens_at > now() and not course.is_taught:
        raise no_assignment(assignment_id)
    return course, assignment


ExamInPath = Annotated[Exam, Depends(_exam_in_path)]


@dataclass(frozen=True)
class ExamPage(FormPage):
    exam: ExamInPath
    user: Reader
    starts: Provided[ExamStarts]
    dates: Provided[SectionDates]
    catalogue: Provided[Catalogue]
    path = "/courses/{exam[0].id}/assignments/{exam[1].id}/exam"

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        return await self.show(refusal)

    async def show(self, refusal: Refused | None = None) -> HTMLResponse:
        course, found = self.exam
        shown = await self.starts.shown_to(self.user, course, [found])
        [assignment] = await self.dates.for_student(course, self.user, shown)
        return render_page(
            "teaching/courses/exam.html",
            user=self.user,
            course=course,
            assignment=assignment,
            start=await self.starts.of(self.user, assignment),
            now=now(),
            local=lambda each: f"{to_local(each, course.time_zone):%a %-d %b %Y, %H:%M}",
            titles=self.catalogue.titles(),
            refusal=refusal,
        )


actions = Actions("courses", ExamPage, "/courses/{course_id}/assignments/{assignment_id}")


@actions.pages.get("/exam")
async def show_exam(page: PageOf[ExamPage]) -> HTMLResponse:
    return await page.show()


@actions.api.get("/start", summary="When you started an exam of one of your courses, and when your time is over")
async def get_exam_start(exam: ExamInPath, user: Reader, starts: Provided[ExamStarts]) -> ExamStart:
    return await starts.of(user, exam[1])


@actions.post(
    "/start",
    summary="Start an exam, as a student: from now on, your time runs",
    responses=problem_responses(409, 429),
)
async def start_exam(
    exam: ExamInPath, user: Submitter, body: ExamPasswordJSON, starts: Provided[ExamStarts]
) -> ExamStart:
    return await starts.start(user, *exam, body.password)
