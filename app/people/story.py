"""The story of one person at one problem: what they sent, in order, and what changed from one to the next."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import select, tuple_

from app.attempts.views import AttemptView, view_of
from app.database import Database
from app.errors import AttemptNotFound
from app.ids import is_id
from app.queue.models import AttemptRow
from app.queue.overrides import OverrideRow
from app.web.diff import DiffLine, diff_lines


@dataclass(frozen=True, slots=True)
class Step:
    """`since` and `changes` compare with the step before; None for the very first one.

    `changed_by_hand`: the score is not that of the verdict.
    """

    attempt: AttemptView
    changed_by_hand: bool
    since: timedelta | None
    changes: list[DiffLine] | None

    @property
    def failed_check(self) -> str | None:
        """The title of the first check that did not pass."""
        verdict = self.attempt.verdict
        return None if verdict is None else next((each.title for each in verdict.checks if not each.passed), None)

    @property
    def misconception(self) -> str | None:
        verdict = self.attempt.verdict
        return None if verdict is None else verdict.misconception


async def read_story(
    database: Database, user_id: str, problem: str, limit: int, after: str | None = None
) -> list[Step]:
    """Oldest first. `after` is the last attempt of the previous page.

    Raises:
      AttemptNotFound: `after` is none of theirs.
    """
    row = AttemptRow
    own = (row.user_id == user_id, row.problem == problem, row.kind != "rejudge")
    query = select(row).where(*own).order_by(row.created_at, row.id).limit(limit)
    async with database.reading() as session:
        last = None
        if after is not None:
            last = await session.scalar(select(row).where(*own, row.id == after)) if is_id(after) else None
            if last is None:
                raise AttemptNotFound(f"This person has no attempt {after[:64]!r} at this problem.")
            query = query.where(tuple_(row.created_at, row.id) > tuple_(last.created_at, last.id))
        rows = list(await session.scalars(query))
        overridden = select(OverrideRow.attempt_id).where(OverrideRow.attempt_id.in_([each.id for each in rows]))
        changed = frozenset(await session.scalars(overridden))
    attempts = [view_of(each) for each in rows]
    before = [view_of(last) if last else None, *attempts]
    # Comparing takes time that other requests should not wait for.
    return await asyncio.to_thread(
        lambda: [_step(*pair, pair[1].id in changed) for pair in zip(before, attempts, strict=False)]
    )


def _step(before: AttemptView | None, attempt: AttemptView, changed_by_hand: bool) -> Step:
    if before is None:
        return Step(attempt, changed_by_hand, None, None)
    return Step(
        attempt, changed_by_hand, attempt.created_at - before.created_at, diff_lines(before.source, attempt.source)
    )
