"""What the embedded queue does to the attempts table: take, keep, finish and give back rows under a fence token."""

import json
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import CursorResult, or_, select, update

from app.attempts.models import AttemptRow
from app.clock import now
from app.database import Database
from grader.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Lease:
    """One row, held. `tries` counts this one."""

    attempt_id: str
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

    def __init__(self, database: Database, lease_s: float) -> None:
        self._database = database
        self._life = timedelta(seconds=lease_s)

    async def take(self) -> Lease | None:
        """The next queued row: runs before attempts, then the oldest."""
        async with self._database.writing() as session:
            row = await session.scalar(
                select(AttemptRow)
                .where(AttemptRow.status == "queued")
                .order_by(AttemptRow.priority, AttemptRow.created_at, AttemptRow.id)
                .limit(1)
                # On PostgreSQL two workers then take two rows; SQLite has one writer anyway and ignores it.
                .with_for_update(skip_locked=True)
            )
            if row is None:
                return None
            row.status, row.phase = "running", "starting"
            row.fence_token = secrets.token_hex(16)
            row.lease_until = now() + self._life
            row.started_at = now()
            row.tries += 1
            return Lease(
                attempt_id=row.id,
                fence_token=row.fence_token,
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
        return await self._write(lease, **_ended(verdict))

    async def give_back(self, lease: Lease, phase: str | None, *, charged: bool) -> bool:
        """Queue the row again. `charged`: this try counts towards the limit."""
        return await self._write(
            lease,
            status="queued",
            phase=phase,
            fence_token=None,
            lease_until=None,
            started_at=None,
            tries=lease.tries if charged else lease.tries - 1,
        )

    async def rescue(self, *, max_tries: int, everything: bool) -> int:
        """Queue again the rows whose worker died: those past their lease, or (`everything`) all that are running.

        A row that took `max_tries` workers down with it is finished as failed. Returns how many rows were touched.
        """
        dead = AttemptRow.status == "running"
        if not everything:
            dead &= or_(AttemptRow.lease_until.is_(None), AttemptRow.lease_until < now())
        async with self._database.writing() as session:
            rows = (await session.scalars(select(AttemptRow).where(dead).with_for_update(skip_locked=True))).all()
            for row in rows:
                row.fence_token = row.lease_until = None
                if row.tries < max_tries:
                    row.status, row.phase, row.started_at = "queued", None, None
                    continue
                said = f"The grader died {row.tries} times while it graded this submission."
                for name, value in _ended(failed_verdict(row.problem, row.version, said)).items():
                    setattr(row, name, value)
            return len(rows)

    async def _write(self, lease: Lease, **values: Any) -> bool:
        async with self._database.writing() as session:
            done = await session.execute(
                update(AttemptRow)
                .where(
                    AttemptRow.id == lease.attempt_id,
                    AttemptRow.fence_token == lease.fence_token,
                    AttemptRow.status == "running",
                )
                .values(**values)
                .execution_options(synchronize_session=False)
            )
            return isinstance(done, CursorResult) and done.rowcount == 1


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


def _ranked_by(verdict: Verdict) -> float | None:
    """The efficiency of an accepted attempt. A run, which has no score, tries no hidden case and is not ranked."""
    ranked = verdict.status == "accepted" and verdict.score is not None
    return verdict.efficiency.score if ranked and verdict.efficiency is not None else None


def _ended(verdict: Verdict) -> dict[str, Any]:
    return {
        "status": "finished",
        "phase": None,
        "fence_token": None,
        "lease_until": None,
        # By way of JSON text, which turns an infinity in the evidence into null: no database or browser takes it.
        "verdict": json.loads(verdict.model_dump_json()),
        "version": verdict.version,
        "score": verdict.score,
        "verdict_status": verdict.status,
        "efficiency": _ranked_by(verdict),
        "finished_at": now(),
    }
