"""The pages on which instructors, and assistants with the right `insight`, see how students are doing."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated

from fastapi import Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.caller import User
from app.accounts.web import Grader, Instructor
from app.core.errors import Refused
from app.core.rest.actions import PageOf
from app.core.rest.paging import Cursor
from app.core.rest.routing import PageRouter
from app.core.services import Provided
from app.core.web.forms import read_form
from app.core.web.templating import render_page
from app.learning.workbench.reports import FaultReports
from app.presentation.drawings.columns import draw_columns
from app.presentation.reasons import REASONS
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
    steps = summary.attempts_to_solve
    return render_page(
        "teaching/insight/insight.html",
        user=user,
        problem=problem,
        course=course,
        courses=[each for each in await courses.visible_to(user) if each.is_taught] if manages(user) else [],
        summary=summary,
        counted=counted,
        median_time=None if summary.median_time is None else in_words(summary.median_time),
        picture=draw_columns(steps, "Attempts until solved", "people"),
        reports=await reports.page(Cursor(20), problem=problem.slug),
        fewest=FEWEST,
    )


@dataclass(frozen=True, slots=True)
class ClusterPage:
    catalogue: Provided[Catalogue]
    insight: Provided[Insight]
    misconceptions: Provided[Misconceptions]

    async def show(
        self,
        slug: str,
        key: str,
        user: User,
        chosen: str = "",
        text: str | None = None,
        refusal: Refused | None = None,
        counted: Counted = "all",
        course: Course | None = None,
    ) -> HTMLResponse:
        """The attempts of a cluster, and for instructors the form that makes one of them a misconception."""
        problem = self.catalogue.get(slug)
        course_id = course.id if course else None
        cluster, members = await self.insight.cluster(user, problem.slug, problem.version, key, counted, course_id)
        return render_page(
            "teaching/insight/insight_cluster.html",
            status_code=refusal.status if refusal else 200,
            user=user,
            problem=problem,
            course=course,
            authors=manages(user),
            cluster=cluster,
            counted=counted,
            reason=REASONS[cluster.reason].name if cluster.reason else "",
            members=members,
            selected=chosen or members[0].id,
            text=suggestion(cluster) if text is None else text,
            base=await self.misconceptions.base(problem.slug),
            longest=LONGEST,
            refusal=refusal,
        )


@router.get("/problems/{slug}/insight/clusters/{key}")
async def show_cluster(
    slug: str,
    key: str,
    user: Grader,
    course: CourseForInsight,
    page: PageOf[ClusterPage],
    versions: Annotated[str, Query(max_length=20)] = "",
) -> HTMLResponse:
    return await page.show(slug, key, user, counted=_counted(versions), course=course)


@router.post("/problems/{slug}/insight/misconceptions")
async def add_misconception(
    request: Request,
    slug: str,
    user: Instructor,
    catalogue: Provided[Catalogue],
    misconceptions: Provided[Misconceptions],
    courses: Provided[Courses],
    page: PageOf[ClusterPage],
) -> Response:
    # Percent-encoding turns one character into at most twelve bytes.
    form = await read_form(request, max_bytes=12 * LONGEST + 1024)
    problem = catalogue.get(slug)
    chosen, base = form.get("attempt", ""), form.get("base", "") or None
    # The field has several rows, and a docstring one line.
    text = " ".join(form.get("text", "").split())
    try:
        upload = await misconceptions.add(user, problem.slug, chosen, text, base)
    except Refused as refusal:
        counted = _counted(form.get("versions", ""))
        of = await courses.allowed(user, form["course"], "insight") if form.get("course") else None
        return await page.show(slug, form.get("cluster", ""), user, chosen, text, refusal, counted, of)
    return RedirectResponse(f"/authoring/{problem.slug}/versions/{upload.version}", status_code=303)


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
