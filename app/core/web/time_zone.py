"""The time zone that a reader chose: pages show moments in it, and count days by it."""

from contextvars import ContextVar
from datetime import UTC, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from starlette.requests import Request
from starlette.types import ASGIApp

from app.core.web.cookies import ZONE_COOKIE
from app.core.web.per_page import PerPage

# Empty if nothing was chosen: moments are then shown in UTC.
_chosen: ContextVar[str] = ContextVar("time zone", default="")


def with_time_zone(app: ASGIApp) -> ASGIApp:
    """Give templates the time zone of this browser."""
    return PerPage(app, _chosen, _read_zone)


def _read_zone(request: Request) -> str:
    name = request.cookies.get(ZONE_COOKIE, "")
    return name if name in zones() else ""


@cache
def zones() -> frozenset[str]:
    """Every name that can be chosen."""
    return frozenset({"UTC", *available_timezones()})


def zone_of(name: str) -> tzinfo:
    """The zone of a name in `zones()`."""
    return UTC if name in ("", "UTC") else ZoneInfo(name)


def chosen_zone() -> str:
    """Of the browser whose request is being answered; empty if it chose none."""
    return _chosen.get()


def zone() -> tzinfo:
    """The zone in which to show a moment to this browser."""
    return zone_of(_chosen.get())
