"""The operations of both queues on the attempts table: lease, extend, finish and return rows with a fence token."""

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, cast

from sqlalchemy import event, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.clock import now
from app.core.database import Database
from app.core.lease import FREE, is_free, lock, not_held, take, until, write
from app.grading.queue.events import Change, WorkEvents
from app.grading.queue.fair_share import back_off, close_up, line_up_again
from app.grading.queue.fault_signature import signature_of
from app.grading.queue.grading_tries import GradingProcess, Phases, begin, conclude
from app.grading.queue.models import AttemptRow
from app.grading.queue.protocol import QueueHooks, QueueStats
from app.grading.queue.status import AttemptStatus
from grader.core.text import storable
from grader.verdicts.verdict import Verdict

_MOST_FINGERPRINT_BYTES = 64 << 10
_QUEUED_AGAIN: dict[str, Any] = {"status": "queued", **FREE, "started_at": None}


@dataclass(frozen=True, slots=True)
class Lease:
    """One leased row. `tries` includes this one, and so does `gradings`. `draw` names the attempt whose hidden inputs
    it is graded on."""

    attempt_id: str
    draw: str
    fence_token: str
    tries: int
    problem: str
    version: str
    variant: str | None
    kind: str
    counts: bool
    source: str
    own_inputs: dict[str, Any] | None
    created_at: datetime
    started_at: datetime
    gradings: list[Any] = field(default_factory=list)


class Leases:
    """Every write carries the fence token of its lease.

    `False` means that the lease was lost and nothing was written.
    """

    def __init__(
        self,
        database: Database,
        lease_s: float,
        retry_s: float,
        events: WorkEvents | None = None,
        hooks: QueueHooks | None = None,
        *,
        by: GradingProcess,
    ) -> None:
        self._database = database
        self._hooks = hooks or QueueHooks()
        self._events = events or WorkEvents()
        self._life = timedelta(seconds=lease_s)
        self._retry_s = retry_s
        self._by = by

    async def lease(self, session: AsyncSession, row: AttemptRow) -> Lease:
        """Lease a queued row that this transaction has locked."""
        row.status, row.phase = "running", "starting"
        fence_token = take(row, self._life)
        row.started_at, row.not_before = now(), None
        row.tries += 1
        row.gradings = begin(row.gradings, row.started_at, self._by)
        return Lease(
            attempt_id=row.id,
            draw=await self._hooks.draw_of(session, row),
            fence_token=fence_token,
            tries=row.tries,
            problem=row.problem,
            version=row.version,
            variant=row.variant,
            kind=row.kind,
            counts=row.counts,
            source=row.source,
            own_inputs=row.own_inputs,
            created_at=row.created_at,
            started_at=row.started_at,
            gradings=row.gradings,
        )

    async def extend(self, lease: Lease, phase: str) -> bool:
        return await self._write(lease, phase=phase[:200], lease_until=until(self._life))

    async def finish(self, lease: Lease, verdict: Verdict, phases: Phases = ()) -> bool:
        async with self._database.writing() as session:
            finished = _finished(verdict, lease.gradings, phases, counts=lease.counts)
            if written := await write(session, AttemptRow, lease.attempt_id, lease.fence_token, **finished):
                await self._hooks.on_finished(session, lease.attempt_id)
            return written

    async def give_back(self, lease: Lease, phases: Phases = ()) -> bool:
        """Return the row to the queue without counting the try. Any free worker may take it."""
        gradings = conclude(lease.gradings, now(), "stopped", phases)
        again = {**_QUEUED_AGAIN, "not_before": None, "tries": lease.tries - 1, "gradings": gradings}
        return await self._write(lease, **again, phase=None)

    async def try_later(self, lease: Lease, phases: Phases = (), message: str = "") -> datetime | None:
        """Return the row to the queue after a failed try, with a delay.

        Returns its due time by this process's clock, or None if the lease was lost.
        """
        after = back_off(self._retry_s, lease.tries)
        gradings = conclude(lease.gradings, now(), "failed", phases, message)
        again = {**_QUEUED_AGAIN, "not_before": until(after), "gradings": gradings}
        async with self._database.writing() as session:
            again["phase"] = "waiting for another try"
            if not await write(session, AttemptRow, lease.attempt_id, lease.fence_token, **again):
                return None
            await line_up_again(session, await session.get_one(AttemptRow, lease.attempt_id))
        return now() + after

    async def rescue(
        self, session: AsyncSession, *, max_deaths: int, everything: bool, own: Collection[str] = ()
    ) -> int:
        """Return rows of dead workers to the queue: those with an expired lease, or all running ones (`everything`),
        except those of this process, whose fence tokens are `own`: it lives, even if it could not extend them in time.

        They wait as after any failed try, in case they killed their worker. A row whose workers died `max_deaths` times
        finishes as failed. Returns the number of rows.
        """
        dead = AttemptRow.status == "running"
        if not everything:
            dead &= is_free(AttemptRow) & not_held(AttemptRow, own)
        rows = await lock(session, select(AttemptRow).where(dead))
        for row in rows:
            if self._fail_or_requeue(row, max_deaths):
                await self._hooks.on_finished(session, row.id)
            else:
                await line_up_again(session, row)
        steps = [(row.id, Change(cast(AttemptStatus, row.status), None)) for row in rows]
        # After the commit, because a rolled-back change did not happen.
        event.listen(session.sync_session, "after_commit", lambda _: self._publish(steps), once=True)
        return len(rows)

    def _publish(self, steps: list[tuple[str, Change]]) -> None:
        for attempt_id, change in steps:
            self._events.publish(attempt_id, change)

    def _fail_or_requeue(self, row: AttemptRow, max_deaths: int) -> bool:
        """Decide about the row of a dead worker. `True` if that was its last try, so that it ends with a verdict."""
        row.fence_token = row.lease_until = None
        if row.tries < max_deaths:
            row.gradings = conclude(row.gradings, now(), "died")
            row.status, row.phase, row.started_at = "queued", None, None
            row.not_before = until(back_off(self._retry_s, row.tries))
            return False
        message = f"The grader died {row.tries} times while it graded this submission."
        verdict = failed_verdict(row.problem, row.version, message)
        for name, value in _finished(verdict, row.gradings, counts=row.counts).items():
            setattr(row, name, value)
        row.gradings = conclude(row.gradings, now(), "died")
        return True

    async def _write(self, lease: Lease, **values: Any) -> bool:
        async with self._database.writing() as session:
            return await write(session, AttemptRow, lease.attempt_id, lease.fence_token, **values)


async def cancel_row(session: AsyncSession, attempt_id: str) -> bool:
    """Remove a queued or running row from the queue, even if it is leased. `False` if it had already ended."""
    row = await session.get(AttemptRow, attempt_id, with_for_update=True)
    if row is None or row.status not in ("queued", "running"):
        return False
    waited = row.status == "queued"
    if not waited:
        row.gradings = conclude(row.gradings, now(), "cancelled")
    row.status, row.phase, row.finished_at = "cancelled", None, now()
    row.fence_token = row.lease_until = row.not_before = None
    if waited:
        await close_up(session, row)
    return True


async def count_waiting(session: AsyncSession) -> QueueStats:
    counts = await session.execute(
        select(AttemptRow.status, func.count())
        .where(AttemptRow.status.in_(("queued", "running")))
        .group_by(AttemptRow.status)
    )
    by_status = {status: number for status, number in counts}
    return QueueStats(queued=by_status.get("queued", 0), running=by_status.get("running", 0))


def failed_verdict(problem: str, version: str, message: str) -> Verdict:
    """The verdict of an attempt that the service could not judge."""
    return Verdict(
        problem=problem,
        version=version,
        status="failed",
        reason=None,
        score=None,
        checks=[],
        cases=[],
        stderr=message,
        walls=[],
    )


def columns_of(verdict: Verdict, *, counts: bool) -> dict[str, Any]:
    """The columns of a row for its verdict. One that does not count has no score and no rank."""
    ranked = counts and verdict.status == "accepted" and verdict.score is not None
    return {
        # Through JSON text, which turns an infinity in the evidence into null: no database or browser accepts one.
        "verdict": json.loads(verdict.model_dump_json()),
        "version": verdict.version,
        "score": verdict.score if counts else None,
        "verdict_status": verdict.status,
        "verdict_reason": verdict.reason,
        "faults": faults_of(verdict),
        "fingerprint": _fingerprint_of(verdict),
        "efficiency": verdict.efficiency.score if ranked and verdict.efficiency is not None else None,
    }


def _fingerprint_of(verdict: Verdict) -> dict[str, Any] | None:
    """The fingerprint of a rejected attempt that nothing explains, unless it is far larger than a correct one."""
    mine = verdict.fingerprint
    if verdict.status != "rejected" or verdict.score is None or verdict.misconception or mine is None or not mine.shown:
        return None
    stored: dict[str, Any] = storable(mine.stored())
    return stored if len(json.dumps(stored)) <= _MOST_FINGERPRINT_BYTES else None


def faults_of(verdict: Verdict) -> dict[str, Any] | None:
    """Which checks and cases did not pass, in the order of the verdict, what was measured of the first check, and what
    its author misunderstood."""
    if verdict.status != "rejected":
        return None
    return {
        "checks": [each.id for each in verdict.checks if not each.passed],
        "cases": [each.id for each in verdict.cases if not each.passed],
        "misconception": verdict.misconception,
        **signature_of(verdict),
    }


def _finished(verdict: Verdict, gradings: list[Any] | None, phases: Phases = (), *, counts: bool) -> dict[str, Any]:
    at, is_failed = now(), verdict.status == "failed"
    tries = conclude(gradings, at, "failed" if is_failed else "finished", phases, verdict.stderr if is_failed else "")
    ended = {"status": "finished", "phase": None, **FREE, "finished_at": at, "gradings": tries}
    return ended | columns_of(verdict, counts=counts)
