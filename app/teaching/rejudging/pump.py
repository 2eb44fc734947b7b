"""Advances rejudges: queues a few trials at a time, and applies a few verdicts at a time.

Not all at once: a rejudge can have a hundred thousand attempts, and its steps must be short transactions that do not
delay students who submit.
"""

import logging
from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.background_loop import Loop
from app.core.clock import now
from app.core.database import Database
from app.core.ids import new_id
from app.grading.queue.fair_share import REJUDGES
from app.grading.queue.leases import columns_of
from app.grading.queue.models import AttemptRow
from app.grading.queue.protocol import GradeQueue, QueueHooks
from app.grading.queue.score_overrides import score_that_counts
from app.grading.queue.status import ENDED
from app.teaching.rejudging.models import RejudgedRow, RejudgeRow
from grader.verdicts.verdict import Verdict

log = logging.getLogger(__name__)

_AT_ONCE = 20


class RejudgePump:
    """Any number of processes may have one. Only one of them advances a rejudge at a time."""

    def __init__(self, database: Database, queue: GradeQueue, hooks: QueueHooks) -> None:
        self.loop = Loop("advancing rejudges", self.step, pause_s=1.0, idle_pause_s=30.0)
        self._database = database
        self._hooks = hooks
        self._queue = queue

    async def step(self) -> bool:
        """Advance each open rejudge a little. Returns whether there may be more to do immediately."""
        # Read first, so that an idle pump never takes the write lock, of which SQLite has only one.
        async with self._database.reading() as session:
            open_ones = (
                await session.scalars(select(RejudgeRow.id).where(RejudgeRow.status.in_(("running", "applying"))))
            ).all()
        moved = False
        for rejudge_id in open_ones:
            async with self._database.writing() as session:
                row = await session.scalar(
                    select(RejudgeRow).where(RejudgeRow.id == rejudge_id).with_for_update(skip_locked=True)
                )
                if row is not None and row.status == "running":
                    moved |= await self._grade(session, row)
                elif row is not None and row.status == "applying":
                    moved |= await self._apply(session, row)
        return moved

    async def _grade(self, session: AsyncSession, row: RejudgeRow) -> bool:
        queued = await _some(session, row, "queued", _AT_ONCE)
        ended = [each for each in queued if await _take_result(session, each)]
        waiting = await _some(session, row, "waiting", _AT_ONCE - (len(queued) - len(ended)))
        for item in waiting:
            attempt = await session.get_one(AttemptRow, item.attempt_id)
            trial = AttemptRow(
                id=new_id(),
                user_id=attempt.user_id,
                problem=row.problem,
                version=row.version,
                kind="rejudge",
                share=REJUDGES,
                source=attempt.source,
                variant=attempt.variant,
                created_at=now(),
            )
            await self._queue.enqueue(session, trial)
            await session.flush()
            item.trial_id, item.status = trial.id, "queued"
        if not waiting and len(ended) == len(queued):
            row.status, row.finished_at = "finished", now()
            log.info("rejudge %s of %s has finished", row.id, row.problem)
        return bool(ended)

    async def _apply(self, session: AsyncSession, row: RejudgeRow) -> bool:
        items = await _some(session, row, "graded", _AT_ONCE)
        for item in items:
            item.status = "applied"
            trial = None if item.trial_id is None else await session.get(AttemptRow, item.trial_id)
            if trial is None or trial.verdict is None or item.new_status == "failed":
                continue
            if row.never_lower and item.loses:
                item.changed = False
                continue
            attempt = await session.get_one(AttemptRow, item.attempt_id, with_for_update=True)
            before, verdict = attempt.verdict, Verdict.model_validate(trial.verdict)
            for name, value in columns_of(verdict, counts=attempt.counts).items():
                setattr(attempt, name, value)
            attempt.fingerprint = trial.fingerprint
            attempt.score = await score_that_counts(session, attempt.id, attempt.score)
            attempt.score_before, attempt.rejudged_at = item.old_score, now()
            # Nothing is lost: from now on, the trial has the attempt's old verdict.
            trial.verdict, trial.version, trial.verdict_status = before, item.old_version, item.old_status
            trial.verdict_reason = (before or {}).get("reason")
            if item.changed:
                await self._hooks.on_finished(session, attempt.id)
        if not items:
            row.status, row.applied_at = "applied", now()
            log.info("rejudge %s of %s was applied", row.id, row.problem)
        return bool(items)


async def _some(session: AsyncSession, row: RejudgeRow, status: str, limit: int) -> Sequence[RejudgedRow]:
    rows = await session.scalars(
        select(RejudgedRow)
        .where(RejudgedRow.rejudge_id == row.id, RejudgedRow.status == status)
        .order_by(RejudgedRow.attempt_id)
        .limit(limit)
    )
    return rows.all()


async def _take_result(session: AsyncSession, item: RejudgedRow) -> bool:
    trial = None if item.trial_id is None else await session.get(AttemptRow, item.trial_id)
    if trial is not None and trial.status not in ENDED:
        return False
    item.status = "graded"
    if trial is None or trial.verdict is None:
        item.new_status = "failed"
        return True
    verdict = Verdict.model_validate(trial.verdict)
    item.new_status, item.new_reason = verdict.status, verdict.reason
    item.new_score = await score_that_counts(session, item.attempt_id, verdict.score)
    item.changed = verdict.status != "failed" and (item.old_status, item.old_score) != (verdict.status, item.new_score)
    return True
