"""What came of an interview: for each problem, what was sent within its time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select

from app.accounts.caller import User
from app.core.database import Database
from app.grading.queue.models import AttemptRow
from app.grading.queue.withheld_verdicts import shown_only
from app.learning.interviews.interview import Interview, Place


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was sent to one problem within its time. `took` is from its start to the first accepted attempt.

    `best` is the best score, null without an attempt. `failed` are the checks that the last attempt failed, by title;
    empty once it is solved. `last_id` is that attempt.
    """

    place: Place
    took: timedelta | None
    runs: int
    attempts: int
    best: int | None
    failed: tuple[str, ...]
    last_id: str | None
    waiting: int

    @property
    def is_solved(self) -> bool:
        return self.took is not None


async def outcomes_of(database: Database, user: User, interview: Interview) -> tuple[Outcome, ...]:
    """An outcome for each problem of the interview."""
    row = AttemptRow
    query = (
        select(row.id, row.problem, row.kind, row.status, row.verdict_status, row.score, row.created_at, row.verdict)
        .where(
            row.user_id == user.id,
            row.problem.in_([each.slug for each in interview.places]),
            row.kind.in_(("attempt", "run")),
            row.created_at >= interview.created_at,
            row.created_at <= interview.expires_at,
        )
        .order_by(row.created_at, row.id)
    )
    async with database.reading() as session:
        found = (await session.execute(query.where(*await shown_only(session, user_id=user.id)))).all()
    return tuple(_outcome(place, found) for place in interview.places)


def _outcome(place: Place, found: Sequence[Any]) -> Outcome:
    sent = [each for each in found if each.problem == place.slug and _is_within(place, each.created_at)]
    attempts = [each for each in sent if each.kind == "attempt"]
    accepted = next((each for each in attempts if each.verdict_status == "accepted"), None)
    took = accepted.created_at - place.started_at if accepted and place.started_at else None
    last = next((each for each in reversed(attempts) if each.verdict), None)
    failed = [] if accepted or not last else [each["title"] for each in last.verdict["checks"] if not each["passed"]]
    return Outcome(
        place=place,
        took=took,
        runs=len(sent) - len(attempts),
        attempts=len(attempts),
        best=max((each.score for each in attempts if each.score is not None), default=None),
        failed=tuple(failed),
        last_id=shown.id if (shown := accepted or last) else None,
        waiting=sum(each.status in ("queued", "running") for each in attempts),
    )


def _is_within(place: Place, moment: datetime) -> bool:
    return place.started_at is not None and place.started_at <= moment <= (place.closed_at or moment)


def words_of(outcomes: Sequence[Outcome]) -> str:
    """Such as "2 of 3 problems solved, in 31 minutes."."""
    solved = [each.took for each in outcomes if each.took is not None]
    total = sum(solved, timedelta())
    minutes = max(1, round(total.total_seconds() / 60)) if solved else 0
    after = f", in {minutes} {'minute' if minutes == 1 else 'minutes'}" if solved else ""
    return f"{len(solved)} of {len(outcomes)} {'problem' if len(outcomes) == 1 else 'problems'} solved{after}."
