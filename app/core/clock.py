"""The service's clock: times are aware and in UTC."""

from datetime import UTC, datetime, timedelta

MINUTE = timedelta(minutes=1)


def now() -> datetime:
    return datetime.now(UTC)


def end_of_minute(moment: datetime) -> datetime:
    """The start of the next minute.

    People enter a deadline in minutes and read it so, and at 23:59:30 a clock still shows 23:59. So a deadline
    includes its whole minute.
    """
    return moment.replace(second=0, microsecond=0) + MINUTE
