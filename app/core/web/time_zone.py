"""The time zone that a reader chose: pages show moments in it, and count days by it."""

from contextvars import ContextVar
from datetime import UTC, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from app.core.web.cookies import ZONE_COOKIE
from app.core.web.sent_headers import SentHeaders

# Empty if nothing was chosen: moments are then shown in UTC.
CHOSEN_ZONE: ContextVar[str] = ContextVar("time zone", default="")


def zone_name_of(sent: SentHeaders) -> str:
    """The time zone of the browser that sent a request; empty if it chose none."""
    name = sent.cookies.get(ZONE_COOKIE, "")
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
    return CHOSEN_ZONE.get()


def zone() -> tzinfo:
    """The zone in which to show a moment to this browser."""
    return zone_of(CHOSEN_ZONE.get())
