"""Counts what is limited per hour. The counts are in the database: servers share them, and a restart keeps them."""

import math
from datetime import timedelta

from sqlalchemy import delete
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import HourlyCountRow
from app.accounts.sign_in_throttle import subject_key
from app.core.clock import now
from app.core.database import insert_into

_WINDOW = timedelta(hours=1)


async def forget_old_counts(session: AsyncSession) -> None:
    await session.execute(delete(HourlyCountRow).where(HourlyCountRow.ends_at <= now()))


async def count_in_hour(session: AsyncSession, subject: str, limit: int) -> int:
    """Count once. Over the limit, return the seconds until the next try; the caller must then roll back."""
    row = HourlyCountRow
    # One statement, which also locks the row until the commit: two tries at once both count.
    tries, ends_at = (
        await session.execute(
            insert_into(session, row)
            .values(subject_hash=subject_key(subject), tries=1, ends_at=now() + _WINDOW)
            .on_conflict_do_update(index_elements=[row.subject_hash], set_={"tries": row.tries + 1})
            .returning(row.tries, row.ends_at)
        )
    ).one()
    return max(1, math.ceil((ends_at - now()).total_seconds())) if tries > limit else 0
