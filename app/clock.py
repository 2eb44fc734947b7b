"""Time as the service sees it: aware, in UTC."""

from datetime import UTC, datetime


def now() -> datetime:
    return datetime.now(UTC)
