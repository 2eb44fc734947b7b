"""How many people have solved each problem, for anyone to read."""

import math
import time

from sqlalchemy import func, select

from app.core.database import Database
from app.grading.queue.models import IS_SCORED, AttemptRow
from app.grading.queue.withheld_verdicts import shown_only

_READ_AGAIN_S = 600
# A smaller number would point to somebody.
FEWEST_TOLD = 5


class SolvedCounts:
    """Safe to share between requests. Reads an index of all scored attempts, at most once in ten minutes."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._read_at = -math.inf
        self._counts: dict[str, int] = {}

    async def by_problem(self) -> dict[str, int]:
        """Problems that fewer than five people have solved are left out."""
        if time.monotonic() - self._read_at >= _READ_AGAIN_S:
            # Set first, so that requests that arrive meanwhile read the old counts.
            self._read_at = time.monotonic()
            self._counts = await self._read()
        return self._counts

    async def _read(self) -> dict[str, int]:
        people = func.count(AttemptRow.user_id.distinct())
        query = (
            select(AttemptRow.problem, people)
            .where(IS_SCORED, AttemptRow.verdict_status == "accepted")
            .group_by(AttemptRow.problem)
            .having(people >= FEWEST_TOLD)
        )
        async with self._database.reading() as session:
            rows = await session.execute(query.where(*await shown_only(session)))
            return {problem: solved for problem, solved in rows}
