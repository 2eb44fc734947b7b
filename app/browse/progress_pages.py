"""How far one has come: problems and points by track, and the days on which one was at it."""

from datetime import UTC, tzinfo
from functools import cache
from typing import Annotated
from zoneinfo import ZoneInfo, available_timezones

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
from app.workbench.services import WorkbenchServices

router = APIRouter(include_in_schema=False)


@router.get("/progress")
async def show_progress(
    request: Request,
    user: Annotated[User, Depends(require_scope("read"))],
    zone: Annotated[str, Query(max_length=64)] = "",
) -> HTMLResponse:
    """`zone` is the time zone whose days are counted; the script of the page asks for the reader's."""
    services = services_of(request, WorkbenchServices)
    known = zone if zone in _zones() else "UTC"
    listing = list_problems(services.catalogue.sections(), await progress(services.database, user))
    found = await days(services.database, user, now(), _zone(known))
    return render_page(
        "progress.html",
        user=user,
        listing=listing,
        days=found,
        calendar=draw_calendar(found.today, found.sent),
        zone=known,
        zones=sorted(_zones()),
    )


@cache
def _zones() -> frozenset[str]:
    return frozenset({"UTC", *available_timezones()})


def _zone(name: str) -> tzinfo:
    return UTC if name == "UTC" else ZoneInfo(name)
