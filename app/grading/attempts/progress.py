"""A user's progress at each problem."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import and_, bindparam, case, func, select
from sqlalchemy.orm import aliased

from app.accounts.caller import User
from app.core.database import Database, select_rows
from app.core.prepared_select import PreparedSelect
from app.grading.attempts.models import GiveUpRow
from app.grading.queue.models import IS_SCORED, AttemptRow
from app.grading.queue.withheld_verdicts import shown_only


@dataclass(frozen=True, slots=True)
class Standing:
    """`accepted` counts only attempts, because a run uses no hidden case."""

    best_score: int
    accepted: bool


@dataclass(frozen=True, slots=True)
class Progress:
    """A problem that the user has sent something to, a run or an attempt, last at `last_at`.

    `best_score` is null until an attempt is scored.
    """

    last_at: datetime
    best_score: int | None
    accepted: bool
    gave_up: bool = False

    @property
    def is_over(self) -> bool:
        """Solved or given up: there is nothing left to do, and what builds on it can begin."""
        return self.accepted or self.gave_up


# Built once: building a statement takes as long as executing it, and every problem page needs it.
_STANDINGS = (
    select(
        AttemptRow.problem,
        func.max(AttemptRow.score).label("best_score"),
        func.max(case((AttemptRow.verdict_status == "accepted", 1), else_=0)).label("accepted"),
    )
    .where(AttemptRow.user_id == bindparam("user_id"), IS_SCORED)
    .group_by(AttemptRow.problem)
)
_ALL = PreparedSelect(_STANDINGS)
_STANDING = PreparedSelect(_STANDINGS.where(AttemptRow.problem == bindparam("problem")))
_TRIED = select(AttemptRow.problem).where(AttemptRow.user_id == bindparam("user_id")).distinct().subquery()
_NEWEST = aliased(AttemptRow)
# From the newest backwards, which usually reads one row. Grouping would read each row, because no index holds the kind.
_LAST_AT = (
    select(_NEWEST.created_at)
    .where(_NEWEST.user_id == bindparam("user_id"), _NEWEST.problem == _TRIED.c.problem, _NEWEST.kind != "rejudge")
    .order_by(_NEWEST.created_at.desc())
    .limit(1)
    .correlate(_TRIED)
    .scalar_subquery()
)
_LAST = select(_TRIED.c.problem, _LAST_AT.label("last_at")).subquery()
_GAVE_UP = GiveUpRow.at.is_not(None).label("gave_up")


def _progress(standings: Any) -> Any:
    # Two groupings and not one, which would read the score behind the verdict in each row: an index holds all scores.
    scores = standings.subquery()
    return (
        select(_LAST.c.problem, _LAST.c.last_at, scores.c.best_score, scores.c.accepted, _GAVE_UP)
        .join_from(_LAST, scores, scores.c.problem == _LAST.c.problem, isouter=True)
        .join(
            GiveUpRow,
            and_(GiveUpRow.user_id == bindparam("user_id"), GiveUpRow.problem == _LAST.c.problem),
            isouter=True,
        )
        .where(_LAST.c.last_at.is_not(None))
    )


_PROGRESS = PreparedSelect(_progress(_STANDINGS))


async def standings(database: Database, user: User, problem: str | None = None) -> dict[str, Standing]:
    """Standing by problem, over all of the user's scored attempts. Problems without one are left out."""
    query = _ALL if problem is None else _STANDING
    async with database.reading() as session:
        shown = await shown_only(session, user_id=user.id, problem=problem)
        rows = await select_rows(session, query.where(*shown), {"user_id": user.id, "problem": problem})
        return {slug: Standing(best_score, bool(accepted)) for slug, best_score, accepted in rows}


async def progress(database: Database, user: User) -> dict[str, Progress]:
    """Progress by problem, for each that the user has sent anything to."""
    async with database.reading() as session:
        shown = await shown_only(session, user_id=user.id)
        query = _progress(_STANDINGS.where(*shown)) if shown else _PROGRESS
        rows = await select_rows(session, query, {"user_id": user.id})
        return {
            slug: Progress(last_at, best, bool(accepted), gave_up) for slug, last_at, best, accepted, gave_up in rows
        }
