"""How long a verdict took, of the latest ones."""

from dataclasses import dataclass
from statistics import median

from sqlalchemy import select

from app.core.database import Database
from app.core.read_again import ReadAgain
from app.grading.queue.models import AttemptRow

_READ_AGAIN_S = 60
# Of one problem. With fewer than the least, one verdict on a busy machine would decide.
_MOST, _LEAST = 20, 3
# Of all problems together: the number of rows to read is then bounded, whatever is stored.
_LATEST = 500
_TIMES = (
    select(AttemptRow.problem, AttemptRow.kind, AttemptRow.status, AttemptRow.started_at, AttemptRow.finished_at)
    .where(AttemptRow.finished_at.is_not(None))
    .order_by(AttemptRow.finished_at.desc())
    .limit(_LATEST)
)


@dataclass(frozen=True, slots=True)
class Typical:
    """The median time from start to verdict of the latest `verdicts`."""

    median_s: float
    verdicts: int


class Durations:
    """Safe to share between requests. Reads at most once a minute, however many requests there are."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._typical = ReadAgain(self._read, _READ_AGAIN_S)

    async def typical(self, problem: str) -> Typical | None:
        """The time of the attempts at a problem that were graded last; None if there are too few to tell."""
        return (await self._typical.get()).get(problem)

    async def _read(self) -> dict[str, Typical]:
        took_s: dict[str, list[float]] = {}
        async with self._database.reading() as session:
            for problem, kind, status, start, end in await session.execute(_TIMES):
                # A run grades fewer cases, and one that was cancelled was not graded to its end.
                if kind == "attempt" and status == "finished" and start is not None and end is not None:
                    took_s.setdefault(problem, []).append((end - start).total_seconds())
        latest = {problem: each[:_MOST] for problem, each in took_s.items() if len(each) >= _LEAST}
        return {problem: Typical(median(each), len(each)) for problem, each in latest.items()}
