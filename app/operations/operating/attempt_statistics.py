"""The operator's view of the attempts table: the length of the queue, and the attempts that ended since last time."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import func, select

from app.core.clock import now
from app.core.database import Database
from app.grading.queue.fair_share import work_tables
from app.grading.queue.models import AttemptRow
from grader.verdicts.verdict import Verdict

# A row is stored shortly after its time, by a machine whose clock may differ.
_SKEW = timedelta(seconds=60)
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Line:
    """The waiting work of one kind."""

    depth: int
    oldest_s: float


@dataclass(frozen=True, slots=True)
class Waiting:
    """`lines` has the kinds of work of which any waits, by name."""

    lines: dict[str, Line]
    running: int


@dataclass(frozen=True, slots=True)
class Ended:
    """`status` is the verdict's, or "cancelled", which has no timings."""

    kind: str
    status: str
    reason: str | None
    timings_ms: dict[str, int]


async def waiting(database: Database) -> Waiting:
    """Reads only the rows that are waiting or running, with the index on their status."""
    found: list[tuple[str, int, datetime]] = []
    running = select(func.count()).where(AttemptRow.status == "running")
    async with database.reading() as session:
        for each in work_tables():
            kind = each.works().label("kind")
            line = select(kind, func.count(), func.min(each.created_at)).where(each.status == "queued").group_by("kind")
            found += await session.execute(line)
        number = await session.scalar(running) or 0
    return Waiting(
        {kind: Line(depth, max(0.0, (now() - oldest).total_seconds())) for kind, depth, oldest in found}, number
    )


class AttemptStatistics:
    """Returns every attempt that ends after this was created exactly once, wherever it was graded.

    A call costs only as much as the attempts that ended since the previous one.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._began = now()
        self._looked = self._began
        self._recent: dict[str, datetime] = {}

    async def new(self) -> list[Ended]:
        """The attempts that ended since the last call. Do not call it twice at once."""
        moment, since = now(), max(self._began, self._looked - _SKEW)
        async with self._database.reading() as session:
            rows = (
                await session.execute(
                    select(AttemptRow.id, AttemptRow.finished_at).where(AttemptRow.finished_at > since)
                )
            ).all()
            fresh = [attempt_id for attempt_id, ended_at in rows if self._recent.get(attempt_id) != ended_at]
            ended: list[Ended] = []
            for start in range(0, len(fresh), _BATCH):
                details = await session.execute(
                    select(AttemptRow.kind, AttemptRow.verdict).where(AttemptRow.id.in_(fresh[start : start + _BATCH]))
                )
                ended += [_ended(kind, verdict) for kind, verdict in details]
        # Only now, so that nothing is lost if the database fails in between.
        self._recent = {attempt_id: at for attempt_id, at in rows if at is not None and at > moment - _SKEW}
        self._looked = moment
        return ended


def _ended(kind: str, verdict: dict[str, object] | None) -> Ended:
    if verdict is None:
        return Ended(kind, "cancelled", None, {})
    stored = Verdict.model_validate(verdict)
    return Ended(kind, stored.status, stored.reason, stored.timings_ms.model_dump())
