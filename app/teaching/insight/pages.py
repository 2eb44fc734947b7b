"""The pages on which instructors, and assistants with the right `insight`, see how students are doing."""

from datetime import timedelta
from typing import Annotated

from fastapi import Query
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.web import Grader, Instructor
from app.core.errors import Refused
from app.core.rest.actions import FormPage, PageOf, Typed
from app.core.rest.paging import Cursor
from app.core.rest.routing import PageRouter
from app.core.services import Provided
from app.core.web.templating import render_page
from app.learning.workbench.reports import FaultReports
from app.presentation.drawings.columns import draw_columns
from app.presentation.reasons import REASONS
from app.presentation.verdict_view import arrange_verdict
from app.problems.catalogue import Catalogue
from app.teaching.courses.course_in_path import CourseForInsight
from app.teaching.courses.service import Course, Courses
from app.teaching.courses.staff import manages
from app.teaching.insight.discrimination import FEWEST
from app.teaching.insight.misconceptions import LONGEST, Misconceptions, suggestion
from app.teaching.insight.service import Counted, Insight

router = PageRouter()


@router.get("/insight")
async def list_insight(
    user: Instructor,
    catalogue: Provided[Catalogue],
    insight: Provided[Insight],
    problem: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """`problem` is the slug, the title or a part of it: if it means one problem, its page follows."""
    if found := catalogue.find(problem):
        return RedirectResponse(f"/problems/{found.slug}/insight", status_code=303)
    titles = catalogue.titles()
    lines = [each for each in await insight.of_all() if each.problem in titles]
    return render_page("teaching/insight/insight_list.html", user=user, lines=lines, titles=titles, sought=problem)


@router.get("/problems/{slug}/insight")
async def show_insight(
    slug: str,
    user: Grader,
    course: CourseForInsight,
    catalogue: Provided[Catalogue],
    insight: Provided[Insight],
    courses: Provided[Courses],
    reports: Provided[FaultReports],
    versions: Annotated[str, Query(max_length=20)] = "",
) -> HTMLResponse:
    problem = catalogue.get(slug)
    counted = _counted(versions)
    summary = await insight.of_problem(user, problem.slug, problem.version, counted, course.id if course else None)
    steps, fault = summary.attempts_to_solve, summary.common_fault
    example = await insight.example_of(fault) if fault else None
    return render_page(
        "teaching/insight/insight.html",
        user=user,
        problem=problem,
        course=course,
        courses=[each for each in await courses.visible_to(user) if each.is_taught] if manages(user) else [],
        summary=summary,
        counted=counted,
        median_time=None if summary.median_time is None else in_words(summary.median_time),
        fault=arrange_verdict(example, is_answer=problem.manifest.mode == "answer") if example else None,
        picture=draw_columns(steps, "Attempts until solved", "people"),
        reports=await reports.page(Cursor(20), problem=problem.slug),
        fewest=FEWEST,
    )


class ClusterPage(FormPage):
    """The attempts of a cluster, and for instructors the form that makes one of them a misconception."""

    def __init__(
        self,
        slug: str,
        user: Grader,
        catalogue: Provided[Catalogue],
        insight: Provided[Insight],
        misconceptions: Provided[Misconceptions],
        courses: Provided[Courses],
    ) -> None:
        self._user, self._catalogue, self._insight = user, catalogue, insight
        self._slug, self._misconceptions, self._courses = slug, misconceptions, courses
        self._key = self._versions = self._course = ""

    async def fill(self, action: str, typed: Typed) -> Response | None:
        """Which page the form is on."""
        self._key, self._versions, self._course = [typed.pop(each, "") for each in ("cluster", "versions", "course")]
        return None

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        course = await self._courses.allowed(self._user, self._course, "insight") if self._course else None
        return await self.show(self._key, _counted(self._versions), course, typed, refusal)

    async def show(
        self,
        key: str,
        counted: Counted,
        course: Course | None,
        typed: Typed | None = None,
        refusal: Refused | None = None,
    ) -> HTMLResponse:
        problem = self._catalogue.get(self._slug)
        course_id = course.id if course else None
        cluster, members = await self._insight.cluster(
            self._user, problem.slug, problem.version, key, counted, course_id
        )
        typed = Typed(text=suggestion(cluster)) if typed is None else typed
        return render_page(
            "teaching/insight/insight_cluster.html",
            user=self._user,
            problem=problem,
            course=course,
            authors=manages(self._user),
            cluster=cluster,
            counted=counted,
            reason=REASONS[cluster.reason].name if cluster.reason else "",
            members=members,
            selected=typed["attempt"] or members[0].id,
            text=typed["text"],
            base=await self._misconceptions.base(problem.slug),
            longest=LONGEST,
            refusal=refusal,
        )


@router.get("/problems/{slug}/insight/clusters/{key}")
async def show_cluster(
    key: str,
    course: CourseForInsight,
    page: PageOf[ClusterPage],
    versions: Annotated[str, Query(max_length=20)] = "",
) -> HTMLResponse:
    return await page.show(key, _counted(versions), course)


def _counted(text: str) -> Counted:
    """A value that the page does not offer is dropped."""
    return "served" if text == "served" else "all"


def in_words(length: timedelta) -> str:
    """In the unit that a reader would choose: `40 s`, `12 min`, `3.5 h`, `4 days`."""
    seconds = length.total_seconds()
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    if seconds < 48 * 3600:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 86400:.0f} days"
