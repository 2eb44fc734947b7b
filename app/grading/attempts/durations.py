"""How long a verdict takes, estimated from the latest ones."""

import math
import time
from statistics import median

from sqlalchemy import select

from app.core.database import Database
from app.grading.queue.models import AttemptRow

_READ_AGAIN_S = 60
# Of all problems together: the number of rows to read is then bounded, whatever is stored.
_LATEST = 500
_TIMES = (
    select(AttemptRow.problem, AttemptRow.kind, AttemptRow.status, AttemptRow.started_at, AttemptRow.finished_at)
    .where(AttemptRow.finished_at.is_not(None))
    .order_by(AttemptRow.finished_at.desc())
    .limit(_LATEST)
)


class Durations:
    """Safe to share between requests. Reads at most once a minute, however many requests there are."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._read_at = -math.inf
        self._typical_s: dict[str, float] = {}

    async def typical_s(self, problem: str) -> float | None:
        """The median time from start to verdict of the attempts graded last; None if there are none."""
        if time.monotonic() - self._read_at >= _READ_AGAIN_S:
            # Set first, so that requests that arrive meanwhile read the old values.
            self._read_at = time.monotonic()
            self._typical_s = await self._read()
        return self._typical_s.get(problem)

    async def _read(self) -> dict[str, float]:
        took_s: dict[str, list[float]] = {}
        async with self._database.reading() as session:
            for problem, kind, status, start, end in await session.execute(_TIMES):
                # A run grades fewer cases, and one that was cancelled was not graded to its end.
                if kind == "attempt" and status == "finished" and start is not None and end is not None:
                    took_s.setdefault(problem, []).append((end - start).total_seconds())
        return {problem: median(each) for problem, each in took_s.items()}
