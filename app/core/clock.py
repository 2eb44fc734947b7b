"""The service's clock: times are aware and in UTC."""

from datetime import UTC, datetime


def now() -> datetime:
    return datetime.now(UTC)
