"""Requests a rejudge, reads what it would change, and applies or cancels it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import ColumnElement, case, delete, func, literal, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit.log import record
from app.accounts.caller import User
from app.accounts.models import UserRow
from app.authoring.version_history import require_versions
from app.core.clock import now
from app.core.database import Database, insert_into
from app.core.ids import is_id, new_id
from app.core.rest.paging import Cursor, Page, paged
from app.core.view import View
from app.grading.queue.models import AttemptRow
from app.grading.queue.protocol import GradeQueue
from app.grading.queue.walls import Walls
from app.problems.models import PackageRow, PublishedRow
from app.problems.package_store import PackageStore
from app.teaching.rejudging.errors import (
    RejudgeApplied,
    RejudgeCancelled,
    RejudgeNotFinished,
    RejudgeNotFound,
    RejudgeUnderWay,
    VersionNotServed,
)
from app.teaching.rejudging.models import RejudgedRow, RejudgeRow, loses
from app.teaching.rejudging.selection import EVERYTHING, Selection, selected
from grader.core.reasons import Reason
from grader.verdicts.verdict import Status

RejudgeStatus = Literal["running", "finished", "applying", "applied", "cancelled"]
# A problem has at most one of these. Otherwise an attempt's old verdict would depend on which is applied first.
_OPEN = ("running", "finished", "applying")


class Rejudge(View):
    """A rejudge and its progress. `changed` counts the attempts whose status or score it changes; `failed` those that
    the grader could not judge, which keep their verdict. After it was applied with `never_lower`, `not_lowered` counts
    the attempts that would have lost points or their status `accepted`, and kept their verdict.

    `status` is `running`, then `finished` until it is applied (`applying`, then `applied`) or `cancelled`.
    """

    id: str
    problem: str
    version: str
    status: RejudgeStatus
    total: int
    graded: int
    changed: int
    failed: int
    not_lowered: int
    selection: Selection
    never_lower: bool
    created_at: datetime
    finished_at: datetime | None
    applied_at: datetime | None


@dataclass(frozen=True, slots=True)
class Change:
    """How a rejudge changes one attempt."""

    attempt_id: str
    user: str
    old_version: str
    old_status: Status
    old_score: int
    new_status: Status
    new_reason: Reason | None
    new_score: int | None


@dataclass(frozen=True, slots=True)
class Balance:
    """How many attempts gain points by a rejudge, and how many lose some or their status; of how many people each."""

    gain: int
    gain_people: int
    lose: int
    lose_people: int


@dataclass(frozen=True, slots=True)
class Count:
    """How much a rejudge would grade. `versions` has the number of attempts of each version, the most first."""

    attempts: int
    people: int
    versions: tuple[tuple[str, int], ...]


class Rejudging:
    """Safe to share between requests. app/teaching/rejudging/pump.py does the work itself."""

    def __init__(self, database: Database, store: PackageStore, queue: GradeQueue, walls: Walls) -> None:
        self._database = database
        self._store = store
        self._queue = queue
        self._walls = walls

    async def count(self, slug: str, version: str, chosen: Selection = EVERYTHING) -> Count:
        """What `request` would grade. Raises the same, except for `RejudgeUnderWay` and `GradingRefused`."""
        await self._store.version_of(slug, version)
        row = AttemptRow
        async with self._database.reading() as session:
            matching = await selected(session, slug, version, chosen)
            number = func.count()
            by_version = select(row.version, number).where(*matching).group_by(row.version)
            versions = (await session.execute(by_version.order_by(number.desc(), row.version))).all()
            people = await session.scalar(select(func.count(row.user_id.distinct())).where(*matching)) or 0
        return Count(sum(each for _, each in versions), people, tuple((name, each) for name, each in versions))

    async def request(self, slug: str, version: str, chosen: Selection = EVERYTHING) -> Rejudge:
        """Have this version grade the scored attempts of other versions. Their verdicts stay until `apply`.

        A repeated request returns the first rejudge.

        Raises:
          VersionNotFound, CourseNotFound, AssignmentNotFound, PersonNotFound, SelectionInvalid: see `selected`.
          RejudgeUnderWay: another rejudge of the problem is neither applied nor cancelled yet.
          GradingRefused: a wall is missing, so nothing would be graded.
        """
        await self._store.version_of(slug, version)
        self._walls.require()
        async with self._database.writing() as session:
            # Locked, so that the second of two simultaneous requests finds the rejudge of the first.
            await session.execute(select(PackageRow.version).where(PackageRow.slug == slug).with_for_update())
            row = await session.scalar(
                select(RejudgeRow).where(RejudgeRow.problem == slug, RejudgeRow.status.in_(_OPEN))
            )
            if row is None:
                row = await _begin(session, slug, version, chosen)
            elif row.version != version or Selection.of_json(row.selection).to_json() != chosen.to_json():
                raise RejudgeUnderWay(
                    f"The rejudge {row.id} by version {row.version} is {row.status}. Apply or cancel it first."
                )
            return await _rejudge(session, row)

    async def open(self, most: int) -> list[Rejudge]:
        """Of all problems: those that are neither applied nor cancelled, oldest first, at most `most`."""
        row = RejudgeRow
        query = select(row).where(row.status.in_(_OPEN)).order_by(row.created_at, row.id).limit(most)
        async with self._database.reading() as session:
            return [await _rejudge(session, each) for each in await session.scalars(query)]

    async def list(self, slug: str, cursor: Cursor) -> Page[Rejudge]:
        """The rejudges of a problem, newest first. Raises `ProblemNotFound`, and `RejudgeNotFound` for the cursor."""
        row = RejudgeRow
        by = (row.created_at, row.id)
        async with self._database.reading() as session:
            await require_versions(session, slug)
            query = select(row).where(row.problem == slug)
            page = await paged(session, query, by, cursor, _itself, missing=lambda each: _not_found(slug, each))
            return Page([await _rejudge(session, each) for each in page], page.next)

    async def get(self, slug: str, rejudge_id: str) -> Rejudge:
        """Raises `RejudgeNotFound`, even if it exists for another problem."""
        async with self._database.reading() as session:
            return await _rejudge(session, await _find(session, slug, rejudge_id))

    async def changes(self, slug: str, rejudge_id: str, cursor: Cursor, *, only_losses: bool = False) -> Page[Change]:
        """The attempts whose status or score changes, by id. Raises `RejudgeNotFound`."""
        item = RejudgedRow
        query = (
            select(
                item.attempt_id,
                UserRow.name,
                item.old_version,
                item.old_status,
                item.old_score,
                item.new_status,
                item.new_reason,
                item.new_score,
            )
            .join(AttemptRow, AttemptRow.id == item.attempt_id)
            .join(UserRow, UserRow.id == AttemptRow.user_id)
            .where(item.rejudge_id == rejudge_id, item.changed.is_(True))
        )
        async with self._database.reading() as session:
            await _find(session, slug, rejudge_id)
            only = [loses()] if only_losses else []
            return await paged(session, query, (item.attempt_id,), cursor, Change, only=only)

    async def balance(self, slug: str, rejudge_id: str) -> Balance:
        """Raises `RejudgeNotFound`."""
        item = RejudgedRow

        def count(condition: ColumnElement[bool]) -> tuple[ColumnElement[int], ColumnElement[int]]:
            return func.count(case((condition, 1))), func.count(case((condition, AttemptRow.user_id)).distinct())

        changed = item.changed.is_(True) & item.new_score.is_not(None)
        query = (
            select(*count(changed & (item.new_score > item.old_score)), *count(changed & loses()))
            .join(AttemptRow, AttemptRow.id == item.attempt_id)
            .where(item.rejudge_id == rejudge_id)
        )
        async with self._database.reading() as session:
            await _find(session, slug, rejudge_id)
            return Balance(*(await session.execute(query)).one())

    async def apply(self, user: User, slug: str, rejudge_id: str, *, never_lower: bool = False) -> Rejudge:
        """Put the new verdicts into effect, in the background. This continues after a restart. The audit log says so.

        If `never_lower`, an attempt that would lose points or its status `accepted` keeps its verdict.

        Raises:
          RejudgeNotFound.
          RejudgeNotFinished: some attempts are not graded yet.
          RejudgeCancelled.
          VersionNotServed: its version is not the published one. Scores must come from the version that students see.
        """
        async with self._database.writing() as session:
            row = await _find(session, slug, rejudge_id, lock=True)
            if row.status == "running":
                raise RejudgeNotFinished("Some attempts are not graded yet. Wait until its status is 'finished'.")
            if row.status == "cancelled":
                raise RejudgeCancelled("The rejudge was cancelled, so its verdicts are gone. Request a new one.")
            if row.status == "finished":
                published = await session.scalar(select(PublishedRow.version).where(PublishedRow.slug == slug))
                if published != row.version:
                    raise VersionNotServed(
                        f"The rejudge is by version {row.version}, but the published version is {published or 'none'}. "
                        f"Publish {row.version}, or cancel the rejudge."
                    )
                row.status, row.never_lower = "applying", never_lower
                how = ", no score lowered" if never_lower else ""
                record(session, user, "rejudge-applied", None, "", f"{slug}, by version {row.version[:12]}{how}")
            return await _rejudge(session, row)

    async def cancel(self, slug: str, rejudge_id: str) -> Rejudge:
        """Stop it and discard its verdicts. No attempt changes. A cancelled rejudge stays cancelled.

        Raises:
          RejudgeNotFound.
          RejudgeApplied: its verdicts are already in effect.
        """
        async with self._database.writing() as session:
            row = await _find(session, slug, rejudge_id, lock=True)
            if row.status in ("applying", "applied"):
                raise RejudgeApplied(
                    "Its verdicts are already in effect. To undo it, publish the old version and rejudge."
                )
            row.status = "cancelled"
            of_it = select(RejudgedRow.trial_id).where(RejudgedRow.rejudge_id == row.id)
            queued = (await session.scalars(of_it.where(RejudgedRow.status == "queued"))).all()
        # From here on, nobody adds a trial. Waiting trials leave the queue first, each in a separate transaction.
        for trial_id in queued:
            if trial_id is not None:
                await self._queue.cancel(trial_id)
        async with self._database.writing() as session:
            drop = delete(AttemptRow).where(AttemptRow.id.in_(of_it))
            await session.execute(drop.execution_options(synchronize_session=False))
            return await _rejudge(session, row)


async def _begin(session: AsyncSession, slug: str, version: str, chosen: Selection) -> RejudgeRow:
    matching = await selected(session, slug, version, chosen)
    row = RejudgeRow(
        id=new_id(),
        problem=slug,
        version=version,
        status="running",
        created_at=now(),
        selection=None if chosen == EVERYTHING else chosen.to_json(),
    )
    session.add(row)
    await session.flush()
    columns = {
        "rejudge_id": literal(row.id),
        "attempt_id": AttemptRow.id,
        "status": literal("waiting"),
        "changed": literal(False),
        "old_version": AttemptRow.version,
        "old_status": AttemptRow.verdict_status,
        "old_score": AttemptRow.score,
    }
    of_others = select(*columns.values()).where(*matching)
    await session.execute(insert_into(session, RejudgedRow).from_select(list(columns), of_others))
    return row


async def _find(session: AsyncSession, slug: str, rejudge_id: str, *, lock: bool = False) -> RejudgeRow:
    row = await session.get(RejudgeRow, rejudge_id, with_for_update=lock) if is_id(rejudge_id) else None
    if row is None or row.problem != slug:
        raise _not_found(slug, rejudge_id)
    return row


def _not_found(slug: str, rejudge_id: str) -> RejudgeNotFound:
    return RejudgeNotFound(f"The problem {slug[:64]!r} has no rejudge with the id {rejudge_id[:64]!r}.")


def _itself(row: RejudgeRow) -> RejudgeRow:
    return row


async def _rejudge(session: AsyncSession, row: RejudgeRow) -> Rejudge:
    item = RejudgedRow

    def number(condition: ColumnElement[bool]) -> ColumnElement[int]:
        return func.coalesce(func.sum(case((condition, 1), else_=0)), 0)

    total, graded, changed, failed, not_lowered = (
        await session.execute(
            select(
                func.count(),
                number(item.status.in_(("graded", "applied"))),
                number(item.changed.is_(True)),
                number(item.new_status == "failed"),
                number((item.status == "applied") & item.changed.is_(False) & loses()),
            ).where(item.rejudge_id == row.id)
        )
    ).one()
    return Rejudge.read_from(
        row,
        total=total,
        graded=graded,
        changed=changed,
        failed=failed,
        not_lowered=not_lowered,
        selection=Selection.of_json(row.selection),
    )
