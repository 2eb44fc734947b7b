"""Attempts with a made-up verdict, stored as a worker stores them."""

from datetime import UTC, datetime, timedelta
from itertools import count

from app.accounts.caller import User
from app.core.database import Database
from app.grading.queue.models import AttemptRow
from grader.verdicts.verdict import Verdict
from tests.app.grading.queue.taking import TakingLeases
from tests.app.program_verdict import program_verdict

_ids = count(1)


async def hand_in(database: Database, user: User, verdict: Verdict, kind: str = "attempt") -> datetime:
    """Store an attempt as a worker does. Each attempt was sent a minute after the previous one."""
    number = next(_ids)
    sent_at = datetime(2026, 1, 5, tzinfo=UTC) + timedelta(minutes=number)
    row = AttemptRow(
        id=f"{number:032x}",
        user_id=user.id,
        problem=verdict.problem,
        version=verdict.version,
        kind=kind,
        source="x",
        status="queued",
        priority=0,
        tries=0,
        created_at=sent_at,
    )
    leases = TakingLeases(database, lease_s=30, retry_s=2)
    lease = await leases.take_new(row)
    assert await leases.finish(lease, verdict)
    return sent_at


def accepted(efficiency: float | None, *, scored: bool = True) -> Verdict:
    return program_verdict("add_one", efficiency=efficiency, scored=scored)
