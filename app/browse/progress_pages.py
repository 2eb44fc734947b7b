"""How far one has come: problems and points by track, and the days on which one was at it."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import HTMLResponse

from app.accounts.caller import User
from app.accounts.web import require_scope
from app.attempts.days import days
from app.attempts.standing import progress
from app.browse.listing import list_problems
from app.clock import now
from app.services import services_of
from app.web.drawings.calendar import draw_calendar
from app.web.templating import render_page
from app.web.time_zone import chosen_zone, zone_of, zones
from app.workbench.services import WorkbenchServices

router = APIRouter(include_in_schema=False)


@router.get("/progress")
async def show_progress(
    request: Request,
    user: Annotated[User, Depends(require_scope("read"))],
    zone: Annotated[str, Query(max_length=64)] = "",
) -> HTMLResponse:
    """`zone` is the time zone whose days are counted. If none was chosen, the page's script asks for the browser's."""
    services = services_of(request, WorkbenchServices)
    known = zone if zone in zones() else chosen_zone() or "UTC"
    listing = list_problems(services.catalogue.sections(), await progress(services.database, user))
    found = await days(services.database, user, now(), zone_of(known))
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
