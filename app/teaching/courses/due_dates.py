"""When an assignment opens and is due in the time zone of its course, and what a late attempt still counts.

A local time that a change of the clocks skips is moved forward by the length of the gap. One that occurs twice is the
first of the two for opening, and the second for a deadline, so nobody loses an hour.
"""

import re
from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from app.core.errors import FieldInvalid
from app.teaching.courses.errors import AssignmentInvalid, TimeZoneNotFound

LOCAL_PATTERN = r"^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]$"
_LOCAL = re.compile(LOCAL_PATTERN, re.ASCII)
_DAY = timedelta(days=1)


@cache
def time_zones() -> tuple[str, ...]:
    """The names that a course may choose, in order."""
    names = sorted(name for name in available_timezones() if "/" in name and not name.startswith("Etc/"))
    return (*names, "UTC")


def check_time_zone(name: str) -> str:
    """Raises `TimeZoneNotFound`."""
    if name not in time_zones():
        raise TimeZoneNotFound(f"There is no time zone {name[:64]!r}. Choose one such as Europe/Berlin, or UTC.")
    return name


def from_local(field: str, text: str, zone: str, *, is_due: bool) -> datetime:
    """A local time such as `2026-10-25T02:30`, as a moment. Raises `FieldInvalid` and `AssignmentInvalid`."""
    if not _LOCAL.fullmatch(text):
        raise FieldInvalid(f"{field}: give a local date and time such as 2026-10-25T23:59.")
    try:
        local = datetime.fromisoformat(text)
    except ValueError:
        raise AssignmentInvalid(f"{field}: the calendar has no {text[:10]}.") from None
    fold = 1 if is_due and not _is_skipped(local, zone) else 0
    return local.replace(tzinfo=ZoneInfo(zone), fold=fold).astimezone(UTC)


def to_local(moment: datetime, zone: str) -> datetime:
    """The local time at a moment."""
    return moment.astimezone(ZoneInfo(zone))


def _is_skipped(local: datetime, zone: str) -> bool:
    there = local.replace(tzinfo=ZoneInfo(zone))
    return there.astimezone(UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None) != local


def closes_at(due_at: datetime, late_percent: int | None) -> datetime:
    """The moment after which nothing counts."""
    return due_at if late_percent is None else due_at + _DAY * -(-100 // late_percent)


def credit(sent_at: datetime, due_at: datetime, late_percent: int | None) -> int:
    """Percent of its score that an attempt counts. A day late is 24 hours, even if the clocks change in between."""
    if sent_at <= due_at:
        return 100
    if late_percent is None:
        return 0
    days = -((due_at - sent_at) // _DAY)  # rounded up
    return max(0, 100 - late_percent * days)
