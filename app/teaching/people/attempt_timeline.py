"""One person's attempts and runs at one problem, in order, and what changed between them."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import select

from app.core.database import Database
from app.core.errors import AttemptNotFound
from app.core.rest.paging import Cursor, Page, paged
from app.core.web.diff import DiffLine, diff_lines
from app.grading.attempts.views import AttemptJSON, AttemptViews
from app.grading.queue.models import AttemptRow
from app.grading.queue.score_overrides import OverrideRow
from app.grading.queue.withheld_verdicts import SeenExams, withheld_until


@dataclass(frozen=True, slots=True)
class Step:
    """`since` and `changes` compare with the previous step; None for the first one.

    `changed_by_hand`: the score is not that of the verdict.
    """

    attempt: AttemptJSON
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


async def read_timeline(
    database: Database, views: AttemptViews, user_id: str, problem: str, cursor: Cursor, seen: SeenExams
) -> Page[Step]:
    """Oldest first. `seen` are the exams whose verdicts the reader sees. Raises `AttemptNotFound` for the cursor."""
    row = AttemptRow
    query, by = (
        select(row).where(row.user_id == user_id, row.problem == problem, row.kind != "rejudge"),
        (row.created_at, row.id),
    )
    async with database.reading() as session:
        found = await paged(session, query, by, cursor, lambda each: each, missing=_not_found, oldest_first=True)
        ids = [each.id for each in found]
        until = await withheld_until(session, ids, user_id=user_id, seen=seen)
        last = await session.get(row, cursor.after) if cursor.after else None
        overridden = select(OverrideRow.attempt_id).where(OverrideRow.attempt_id.in_(ids))
        changed = frozenset(await session.scalars(overridden)) - until.keys()
    page = found.map(lambda each: views.of(each, withheld_until=until.get(each.id)))
    before = [views.of(last, withheld_until=None) if last else None, *page]
    # Comparing takes time that other requests should not wait for.
    steps = await asyncio.to_thread(
        lambda: [_step(*pair, pair[1].id in changed) for pair in zip(before, page, strict=False)]
    )
    return Page(steps, page.next)


def _not_found(attempt_id: str) -> AttemptNotFound:
    return AttemptNotFound(f"This person has no attempt {attempt_id!r} at this problem.")


def _step(before: AttemptJSON | None, attempt: AttemptJSON, changed_by_hand: bool) -> Step:
    if before is None:
        return Step(attempt, changed_by_hand, None, None)
    return Step(
        attempt, changed_by_hand, attempt.created_at - before.created_at, diff_lines(before.source, attempt.source)
    )
