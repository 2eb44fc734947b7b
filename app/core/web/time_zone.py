"""The time zone that a reader chose: pages show moments in it, and count days by it."""

from contextvars import ContextVar
from datetime import UTC, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from app.core.web.cookies import ZONE_COOKIE

# Empty if nothing was chosen: moments are then shown in UTC.
_chosen: ContextVar[str] = ContextVar("time zone", default="")


class TimeZones:
    """ASGI wrapper that gives templates the time zone of this browser."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith("/api/"):
            return await self.app(scope, receive, send)
        name = Request(scope).cookies.get(ZONE_COOKIE, "")
        reset = _chosen.set(name if name in zones() else "")
        try:
            await self.app(scope, receive, send)
        finally:
            _chosen.reset(reset)


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
