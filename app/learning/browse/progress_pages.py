"""A user's progress: problems and points by track, and the days on which they sent something."""

from typing import Annotated

from fastapi import Query
from starlette.responses import HTMLResponse

from app.accounts.web import Reader
from app.core.clock import now
from app.core.database import Database
from app.core.rest.routing import PageRouter
from app.core.services import Provided
from app.core.web.templating import render_page
from app.core.web.time_zone import chosen_zone, zone_of, zones
from app.grading.attempts.active_days import days
from app.grading.attempts.progress import progress
from app.learning.browse.catalogue_listing import list_problems
from app.presentation.drawings.calendar import draw_calendar
from app.problems.catalogue import Catalogue

router = PageRouter()


@router.get("/progress")
async def show_progress(
    user: Reader,
    catalogue: Provided[Catalogue],
    database: Provided[Database],
    zone: Annotated[str, Query(max_length=64)] = "",
) -> HTMLResponse:
    """`zone` is the time zone whose days are counted. If none was chosen, the page's script asks for the browser's."""
    known = zone if zone in zones() else chosen_zone() or "UTC"
    listing = list_problems(catalogue.listed(), await progress(database, user))
    found = await days(database, user, now(), zone_of(known))
    return render_page(
        "learning/browse/progress.html",
        user=user,
        listing=listing,
        days=found,
        calendar=draw_calendar(found.today, found.sent),
        zone=known,
        is_chosen=bool(chosen_zone()),
        zones=sorted(zones()),
    )
