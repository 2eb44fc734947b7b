"""How long people take to solve each problem, from what they typed and sent."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import Any

from sqlalchemy import and_, select

from app.accounts.caller import GUEST_ID
from app.core.database import Database
from app.core.read_again import ReadAgain
from app.grading.queue.models import AttemptRow
from app.grading.queue.withheld_verdicts import shown_only
from app.learning.workbench.models import DraftRow

_READ_AGAIN_S = 600
# With fewer people, an author's estimate is better.
FEWEST = 20
# What a problem takes that nobody has timed and whose author gave no estimate: the mean of the estimates in
# problems/tracks.toml for its difficulty, rounded to five minutes.
MINUTES_BY_DIFFICULTY = {"easy": 20, "medium": 35, "hard": 50}
# A longer time without a run, an attempt or a first draft is a pause.
_PAUSE = timedelta(minutes=20)
# The latest ones: the number of rows to read is then bounded, whatever is stored.
_MOST_ROWS = 20_000


@dataclass(frozen=True, slots=True)
class SolvingTime:
    """The median of all `people` who solved the problem, in whole minutes."""

    minutes: int
    people: int


class SolvingTimes:
    """Safe to share between requests. Reads at most once in ten minutes, however many requests there are."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._times = ReadAgain(self._read, _READ_AGAIN_S)

    async def by_problem(self) -> dict[str, SolvingTime]:
        """Problems that fewer than twenty people have solved are left out."""
        return await self._times.get()

    @property
    def seen(self) -> Hashable:
        """Another one whenever `by_problem` gives other times."""
        return self._times.seen

    async def _read(self) -> dict[str, SolvingTime]:
        row, draft = AttemptRow, DraftRow
        query = (
            select(row.problem, row.user_id, row.created_at, row.kind, row.verdict_status, draft.begun_at)
            .join(draft, and_(draft.user_id == row.user_id, draft.problem == row.problem), isouter=True)
            .where(row.kind.in_(("attempt", "run")), row.user_id != GUEST_ID, row.finished_at.is_not(None))
            # Along the index of what has ended.
            .order_by(row.finished_at.desc())
            .limit(_MOST_ROWS)
        )
        async with self._database.reading() as session:
            rows = (await session.execute(query.where(*await shown_only(session)))).all()
        return times_of(sorted(rows, key=lambda each: each.created_at))


def times_of(rows: Iterable[Any]) -> dict[str, SolvingTime]:
    """The time of each problem that enough people have solved. `rows` are of all of them, the oldest first."""
    spent: dict[tuple[str, str], timedelta] = {}
    seen: dict[tuple[str, str], datetime] = {}
    solved: dict[str, dict[str, float]] = {}
    for problem, user_id, created_at, kind, verdict_status, begun_at in rows:
        key = problem, user_id
        if user_id in solved.get(problem, {}):
            continue
        before = seen.get(key, begun_at if begun_at and begun_at < created_at else created_at)
        spent[key] = spent.get(key, timedelta()) + min(created_at - before, _PAUSE)
        seen[key] = created_at
        if kind == "attempt" and verdict_status == "accepted":
            solved.setdefault(problem, {})[user_id] = spent[key].total_seconds() / 60
    return {
        problem: SolvingTime(max(1, round(median(each.values()))), len(each))
        for problem, each in solved.items()
        if len(each) >= FEWEST
    }
