"""The pages on which instructors see how students are doing."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.caller import User
from app.accounts.web import Instructor
from app.core.errors import Refused
from app.core.rest.paging import Cursor
from app.core.services import Provided, services_of
from app.core.web.drawings.columns import draw_columns
from app.core.web.forms import read_form
from app.core.web.reasons import REASONS
from app.core.web.templating import render_page
from app.learning.workbench.reports import FaultReports
from app.problems.catalogue import Catalogue
from app.teaching.insight.discrimination import FEWEST
from app.teaching.insight.misconceptions import LONGEST, Misconceptions, suggestion
from app.teaching.insight.service import Insight

router = APIRouter(include_in_schema=False)


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
    titles = {each.slug: each.manifest.title for each in catalogue.all()}
    lines = [each for each in await insight.of_all() if each.problem in titles]
    return render_page("insight_list.html", user=user, lines=lines, titles=titles, sought=problem)


@router.get("/problems/{slug}/insight")
async def show_insight(
    slug: str,
    user: Instructor,
    catalogue: Provided[Catalogue],
    insight: Provided[Insight],
    reports: Provided[FaultReports],
) -> HTMLResponse:
    problem = catalogue.get(slug)
    summary = await insight.of_problem(problem.slug, problem.version)
    steps = summary.attempts_to_solve
    return render_page(
        "insight.html",
        user=user,
        problem=problem,
        summary=summary,
        median_time=None if summary.median_time is None else in_words(summary.median_time),
        picture=draw_columns(steps, "Attempts until solved", "people"),
        reports=await reports.page(Cursor(20), problem=problem.slug),
        fewest=FEWEST,
    )


@router.get("/problems/{slug}/insight/clusters/{key}")
async def show_cluster(request: Request, slug: str, key: str, user: Instructor) -> HTMLResponse:
    return await _cluster_page(request, slug, key, user)


@router.post("/problems/{slug}/insight/misconceptions")
async def add_misconception(
    request: Request,
    slug: str,
    user: Instructor,
    catalogue: Provided[Catalogue],
    misconceptions: Provided[Misconceptions],
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
        return await _cluster_page(request, slug, form.get("cluster", ""), user, chosen, text, refusal)
    return RedirectResponse(f"/authoring/{problem.slug}/versions/{upload.version}", status_code=303)


async def _cluster_page(
    request: Request,
    slug: str,
    key: str,
    user: User,
    chosen: str = "",
    text: str | None = None,
    refusal: Refused | None = None,
) -> HTMLResponse:
    """The attempts of a cluster, and the form that makes one of them a misconception."""
    services = services_of(request)
    problem = services[Catalogue].get(slug)
    cluster, members = await services[Insight].cluster(problem.slug, problem.version, key)
    return render_page(
        "insight_cluster.html",
        status_code=refusal.status if refusal else 200,
        user=user,
        problem=problem,
        cluster=cluster,
        reason=REASONS[cluster.reason].name if cluster.reason else "",
        members=members,
        selected=chosen or members[0].id,
        text=suggestion(cluster) if text is None else text,
        base=await services[Misconceptions].base(problem.slug),
        longest=LONGEST,
        refusal=refusal,
    )


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
