"""The days on which a user sent something, in the user's time zone."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo

from sqlalchemy import bindparam, select

from app.accounts.caller import User
from app.core.database import Database
from app.grading.queue.models import AttemptRow

# A whole year of weeks, and the days of the week that has begun.
WINDOW = timedelta(weeks=53)
_DAY = timedelta(days=1)

_SENT = select(AttemptRow.created_at).where(
    AttemptRow.user_id == bindparam("user_id"),
    AttemptRow.created_at >= bindparam("since"),
    AttemptRow.kind != "rejudge",
)


@dataclass(frozen=True, slots=True)
class Days:
    """The number of attempts and runs of each day that has any. `streak` is how many days in a row, up to now."""

    today: date
    sent: dict[date, int]
    streak: int


async def days(database: Database, user: User, now: datetime, zone: tzinfo) -> Days:
    """The last 53 weeks, in a time zone: what was sent a minute apart can belong to two days."""
    async with database.reading() as session:
        moments = await session.scalars(_SENT, {"user_id": user.id, "since": now - WINDOW})
        return count_days(moments, now, zone)


def count_days(moments: Iterable[datetime], now: datetime, zone: tzinfo) -> Days:
    """Count moments by day. A day with two submissions is one day of a streak, and so is a day of 23 or 25 hours."""
    today = now.astimezone(zone).date()
    sent = Counter(moment.astimezone(zone).date() for moment in moments)
    # Today is not over: a streak that reaches yesterday can still go on.
    last = today if today in sent else today - _DAY
    streak = 0
    while last - streak * _DAY in sent:
        streak += 1
    return Days(today, dict(sent), streak)
