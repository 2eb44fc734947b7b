"""The pages on which instructors see how students do."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import HTMLResponse

from app.accounts.caller import User
from app.accounts.web import require_role
from app.insight.services import InsightServices
from app.services import services_of
from app.web.drawings.columns import draw_columns
from app.web.templating import render_page

router = APIRouter(include_in_schema=False)
Instructor = Annotated[User, Depends(require_role("instructor"))]


@router.get("/insight")
async def list_insight(request: Request, user: Instructor) -> HTMLResponse:
    services = services_of(request, InsightServices)
    titles = {each.slug: each.manifest.title for each in services.catalogue.all()}
    lines = [each for each in await services.insight.of_all() if each.problem in titles]
    return render_page("insight_list.html", user=user, lines=lines, titles=titles)


@router.get("/problems/{slug}/insight")
async def show_insight(request: Request, slug: str, user: Instructor) -> HTMLResponse:
    services = services_of(request, InsightServices)
    problem = services.catalogue.get(slug)
    summary = await services.insight.of_problem(problem.slug, problem.version)
    steps = summary.attempts_to_solve
    return render_page(
        "insight.html",
        user=user,
        problem=problem,
        summary=summary,
        median_time=None if summary.median_time is None else in_words(summary.median_time),
        picture=draw_columns(steps, "Attempts until solved", "people") if summary.solved else None,
        reports=await services.reports.page(20, problem=problem.slug),
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
