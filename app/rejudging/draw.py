"""Which attempt's hidden inputs a rejudge is graded on."""

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.queue.models import AttemptRow
from app.rejudging.models import RejudgedRow


async def draw_of(session: AsyncSession, row: AttemptRow) -> str:
    """A rejudge is a copy and has the inputs that the attempt had: only what it is judged by may change the verdict."""
    original = None
    if row.kind == "rejudge":
        original = await session.scalar(select(RejudgedRow.attempt_id).where(RejudgedRow.trial_id == row.id))
    return original or row.id
