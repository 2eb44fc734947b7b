"""A user's progress: problems and points by track, and the days on which they sent something."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import HTMLResponse

from app.accounts.web import Reader
from app.attempts.days import days
from app.attempts.standing import progress
from app.browse.listing import list_problems
from app.clock import now
from app.database import Database
from app.problems.service import Catalogue
from app.services import Provided
from app.web.drawings.calendar import draw_calendar
from app.web.templating import render_page
from app.web.time_zone import chosen_zone, zone_of, zones

router = APIRouter(include_in_schema=False)


@router.get("/progress")
async def show_progress(
    user: Reader,
    catalogue: Provided[Catalogue],
    database: Provided[Database],
    zone: Annotated[str, Query(max_length=64)] = "",
) -> HTMLResponse:
    """`zone` is the time zone whose days are counted. If none was chosen, the page's script asks for the browser's."""
    known = zone if zone in zones() else chosen_zone() or "UTC"
    listing = list_problems(catalogue.sections(), await progress(database, user))
    found = await days(database, user, now(), zone_of(known))
    return render_page(
        "progress.html",
        user=user,
        listing=listing,
        days=found,
        calendar=draw_calendar(found.today, found.sent),
        zone=known,
        is_chosen=bool(chosen_zone()),
        zones=sorted(zones()),
    )
