"""The attempt whose hidden inputs a rejudge uses."""

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.grading.queue.models import AttemptRow
from app.teaching.rejudging.models import RejudgedRow


async def draw_of(session: AsyncSession, row: AttemptRow) -> str:
    """A rejudge is a copy of an attempt and gets the same inputs, so only the new version can change the verdict."""
    original = None
    if row.kind == "rejudge":
        original = await session.scalar(select(RejudgedRow.attempt_id).where(RejudgedRow.trial_id == row.id))
    return original or row.id
