"""When an assignment opens and is due in the time zone of its course, and what a late attempt still counts.

A local time that a change of the clocks skips is moved forward by the length of the gap. One that occurs twice is the
first of the two for opening, and the second for a deadline, so nobody loses an hour.

A day late ends at the local time of the deadline, so one in which the clocks change has 23 or 25 hours. A deadline is
entered in minutes, and includes its minute.
"""

import re
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Annotated
from zoneinfo import ZoneInfo, available_timezones

from pydantic import Field

from app.core.clock import end_of_minute
from app.core.errors import FieldInvalid
from app.teaching.courses.errors import AssignmentInvalid, TimeZoneNotFound

_LOCAL_PATTERN = r"^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]$"
_LOCAL = re.compile(_LOCAL_PATTERN, re.ASCII)
# A time in the time zone of a course, as REST and a form's field of the type datetime-local send it. `from_local` reads
# it: only with the time zone does it say a moment.
LocalTime = Annotated[str, Field(json_schema_extra={"pattern": _LOCAL_PATTERN})]
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
    return _moment(local, zone, is_due=is_due)


def written_local(moment: datetime, zone: str) -> str:
    """The moment as a `LocalTime`, to the minute."""
    return f"{to_local(moment, zone):%Y-%m-%dT%H:%M}"


def to_local(moment: datetime, zone: str) -> datetime:
    """The local time at a moment."""
    return moment.astimezone(ZoneInfo(zone))


def _moment(local: datetime, zone: str, *, is_due: bool) -> datetime:
    fold = 1 if is_due and not _is_skipped(local, zone) else 0
    return local.replace(tzinfo=ZoneInfo(zone), fold=fold).astimezone(UTC)


def _is_skipped(local: datetime, zone: str) -> bool:
    there = local.replace(tzinfo=ZoneInfo(zone))
    return there.astimezone(UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None) != local


def is_over(due_at: datetime, moment: datetime) -> bool:
    """Whether something at this moment is too late."""
    return moment >= end_of_minute(due_at)


def closes_at(due_at: datetime, late_percent: int | None, zone: str, grace_minutes: int = 0) -> datetime:
    """The last minute in which something counts."""
    graced = due_at + timedelta(minutes=grace_minutes)
    return graced if late_percent is None else max(graced, _days_after(due_at, _most_days(late_percent), zone))


def credit(sent_at: datetime, due_at: datetime, late_percent: int | None, zone: str, grace_minutes: int = 0) -> int:
    """Percent of its score that an attempt counts. The grace only forgives: after it, days count from `due_at`."""
    if not is_over(due_at + timedelta(minutes=grace_minutes), sent_at):
        return 100
    if late_percent is None:
        return 0
    return max(0, 100 - late_percent * days_late(sent_at, due_at, late_percent, zone))


def days_late(sent_at: datetime, due_at: datetime, late_percent: int, zone: str) -> int:
    """How many days late have begun. Counting stops when nothing is left to lose."""
    most = _most_days(late_percent)
    # Start near the result: a gradebook calls this for thousands of attempts, some of them months late.
    days = min(most, max(1, (sent_at - due_at) // _DAY))
    while days < most and is_over(_days_after(due_at, days, zone), sent_at):
        days += 1
    return days


def _most_days(late_percent: int) -> int:
    return -(-100 // late_percent)


def _days_after(due_at: datetime, days: int, zone: str) -> datetime:
    """The same time by the clocks of the course, so many days of its calendar later."""
    return days_after(due_at, days, zone, is_due=True)


def days_after(moment: datetime, days: int, zone: str, *, is_due: bool) -> datetime:
    """The same time by the clocks of a time zone, so many days of the calendar later."""
    return _moment(to_local(moment, zone).replace(tzinfo=None) + days * _DAY, zone, is_due=is_due)
