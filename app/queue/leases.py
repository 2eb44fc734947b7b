"""What both queues do to the attempts table: take, keep, finish and give back rows under a fence token."""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

from sqlalchemy import event, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock import now
from app.database import Database
from app.lease import FREE, is_free, lock, take, write
from app.queue.events import AttemptEvents, Change
from app.queue.models import AttemptRow
from app.queue.protocol import QueueHooks, QueueStats
from app.queue.status import AttemptStatus
from app.queue.turns import PRIORITY, back_off
from grader.verdict import Verdict

_QUEUED_AGAIN: dict[str, Any] = {"status": "queued", **FREE, "started_at": None}


@dataclass(frozen=True, slots=True)
class Lease:
    """One row, held. `tries` counts this one, and `draw` names the attempt whose hidden inputs it is graded on."""

    attempt_id: str
    draw: str
    fence_token: str
    tries: int
    problem: str
    version: str
    kind: str
    source: str
    created_at: datetime
    started_at: datetime


class Leases:
    """Every write names the fence token of its lease; `False` says that the lease was lost and nothing was written."""

    def __init__(
        self,
        database: Database,
        lease_s: float,
        retry_s: float,
        events: AttemptEvents | None = None,
        hooks: QueueHooks | None = None,
    ) -> None:
        self._database = database
        self._hooks = hooks or QueueHooks()
        self._events = events or AttemptEvents()
        self._life = timedelta(seconds=lease_s)
        self._retry_s = retry_s

    async def take(self, *, rejudges: bool = True) -> Lease | None:
        """The next queued row: by priority, then whose turn it is. None of the rejudges if not `rejudges`."""
        first = (
            select(AttemptRow)
            .where(
                AttemptRow.status == "queued",
                or_(AttemptRow.not_before.is_(None), AttemptRow.not_before <= now()),
            )
            .order_by(AttemptRow.priority, AttemptRow.turn_at, AttemptRow.id)
            .limit(1)
        )
        if not rejudges:
            first = first.where(AttemptRow.priority < PRIORITY["rejudge"])
        async with self._database.writing() as session:
            rows = await lock(session, first)
            return await self._held(session, rows[0]) if rows else None

    async def take_one(self, attempt_id: str) -> Lease | datetime | None:
        """This row, if it is queued and due; else when to ask again; None when it has ended.

        One that somebody else holds is asked for again once that lease is over.
        """
        async with self._database.writing() as session:
            row = await session.get(AttemptRow, attempt_id, with_for_update=True)
            if row is None or row.status not in ("queued", "running"):
                return None
            if row.status == "running":
                return max(row.lease_until or now(), now() + timedelta(seconds=1))
            if row.not_before is not None and row.not_before > now():
                return row.not_before
            return await self._held(session, row)

    async def _held(self, session: AsyncSession, row: AttemptRow) -> Lease:
        row.status, row.phase = "running", "starting"
        fence_token = take(row, self._life)
        row.started_at, row.not_before = now(), None
        row.tries += 1
        return Lease(
            attempt_id=row.id,
            draw=await self._hooks.draw_of(session, row),
            fence_token=fence_token,
            tries=row.tries,
            problem=row.problem,
            version=row.version,
            kind=row.kind,
            source=row.source,
            created_at=row.created_at,
            started_at=row.started_at,
        )

    async def extend(self, lease: Lease, phase: str) -> bool:
        return await self._write(lease, phase=phase[:200], lease_until=now() + self._life)

    async def finish(self, lease: Lease, verdict: Verdict) -> bool:
        async with self._database.writing() as session:
            finished = _finished(verdict, lease.kind)
            if written := await write(session, AttemptRow, lease.attempt_id, lease.fence_token, **finished):
                await self._hooks.on_finished(session, lease.attempt_id)
            return written

    async def give_back(self, lease: Lease) -> bool:
        """Queue the row again, uncharged, for whoever is free first."""
        return await self._write(lease, **_QUEUED_AGAIN, phase=None, not_before=None, tries=lease.tries - 1)

    async def try_later(self, lease: Lease) -> datetime | None:
        """Queue the row again after a try that failed, to be taken after a while; when, or None if it was lost."""
        moment = now() + back_off(self._retry_s, lease.tries)
        kept = await self._write(lease, **_QUEUED_AGAIN, phase="waiting to be tried again", not_before=moment)
        return moment if kept else None

    async def rescue(self, *, max_deaths: int, everything: bool) -> int:
        """Queue again the rows whose worker died: those past their lease, or (`everything`) all that are running.

        They wait as after any failed try, in case it was they that killed it. A row whose worker died at its try
        `max_deaths` is finished as failed. Returns how many rows were touched.
        """
        async with self._database.writing() as session:
            return await self.rescue_in(session, max_deaths=max_deaths, everything=everything)

    async def rescue_in(self, session: AsyncSession, *, max_deaths: int, everything: bool) -> int:
        """`rescue`, in the caller's transaction."""
        dead = AttemptRow.status == "running"
        if not everything:
            dead &= is_free(AttemptRow)
        rows = await lock(session, select(AttemptRow).where(dead))
        for row in rows:
            if self._fail_or_requeue(row, max_deaths):
                await self._hooks.on_finished(session, row.id)
        steps = [(row.id, Change(cast(AttemptStatus, row.status), None)) for row in rows]
        # After the commit: what was rolled back did not happen.
        event.listen(session.sync_session, "after_commit", lambda _: self._tell(steps), once=True)
        return len(rows)

    def _tell(self, steps: list[tuple[str, Change]]) -> None:
        for attempt_id, change in steps:
            self._events.publish(attempt_id, change)

    def _fail_or_requeue(self, row: AttemptRow, max_deaths: int) -> bool:
        """What happens to the row of a dead worker; `True` when that was its last try, and it ends with a verdict."""
        row.fence_token = row.lease_until = None
        if row.tries < max_deaths:
            row.status, row.phase, row.started_at = "queued", None, None
            row.not_before = now() + back_off(self._retry_s, row.tries)
            return False
        said = f"The grader died {row.tries} times while it graded this submission."
        for name, value in _finished(failed_verdict(row.problem, row.version, said), row.kind).items():
            setattr(row, name, value)
        return True

    async def _write(self, lease: Lease, **values: Any) -> bool:
        async with self._database.writing() as session:
            return await write(session, AttemptRow, lease.attempt_id, lease.fence_token, **values)


async def cancel_row(session: AsyncSession, attempt_id: str) -> bool:
    """Take a queued or running row out of the queue, whoever holds it; `False` when it had ended before."""
    row = await session.get(AttemptRow, attempt_id, with_for_update=True)
    if row is None or row.status not in ("queued", "running"):
        return False
    row.status, row.phase, row.finished_at = "cancelled", None, now()
    row.fence_token = row.lease_until = row.not_before = None
    return True


async def count_waiting(session: AsyncSession) -> QueueStats:
    counted = await session.execute(
        select(AttemptRow.status, func.count())
        .where(AttemptRow.status.in_(("queued", "running")))
        .group_by(AttemptRow.status)
    )
    by_status = {status: number for status, number in counted}
    return QueueStats(queued=by_status.get("queued", 0), running=by_status.get("running", 0))


def failed_verdict(problem: str, version: str, said: str) -> Verdict:
    """The verdict of an attempt that the service could not have judged."""
    return Verdict(
        problem=problem,
        version=version,
        status="failed",
        reason=None,
        score=None,
        checks=[],
        cases=[],
        stderr=said,
        walls=[],
    )


def columns_of(verdict: Verdict, kind: str) -> dict[str, Any]:
    """What a row of this kind holds of its verdict. That of a rejudge counts nowhere: it has no score and no rank."""
    counts = kind != "rejudge"
    ranked = counts and verdict.status == "accepted" and verdict.score is not None
    return {
        # By way of JSON text, which turns an infinity in the evidence into null: no database or browser takes it.
        "verdict": json.loads(verdict.model_dump_json()),
        "version": verdict.version,
        "score": verdict.score if counts else None,
        "verdict_status": verdict.status,
        "efficiency": verdict.efficiency.score if ranked and verdict.efficiency is not None else None,
    }


def _finished(verdict: Verdict, kind: str) -> dict[str, Any]:
    ended = {"status": "finished", "phase": None, **FREE, "finished_at": now()}
    return ended | columns_of(verdict, kind)
