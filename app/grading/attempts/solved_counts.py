"""How many people have solved each problem, for anyone to read."""

from sqlalchemy import func, select

from app.core.database import Database
from app.core.read_again import ReadAgain
from app.grading.queue.models import IS_SCORED, AttemptRow
from app.grading.queue.withheld_verdicts import shown_only

_READ_AGAIN_S = 600
# A smaller number would point to somebody.
FEWEST_TOLD = 5


class SolvedCounts:
    """Safe to share between requests. Reads an index of all scored attempts, at most once in ten minutes."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._counts = ReadAgain(self._read, _READ_AGAIN_S)

    async def by_problem(self) -> dict[str, int]:
        """Problems that fewer than five people have solved are left out."""
        return await self._counts.get()

    async def _read(self) -> dict[str, int]:
        async with self._database.reading() as session:
            # Grouped in the order of the index of scored attempts, so that no attempt itself is read.
            solved = (
                select(AttemptRow.problem)
                .where(IS_SCORED, AttemptRow.verdict_status == "accepted", *await shown_only(session))
                .group_by(AttemptRow.user_id, AttemptRow.problem)
                .subquery()
            )
            people = func.count()
            query = select(solved.c.problem, people).group_by(solved.c.problem).having(people >= FEWEST_TOLD)
            return {problem: number for problem, number in await session.execute(query)}
