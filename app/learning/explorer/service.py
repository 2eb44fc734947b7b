"""Explorations: a person requests one, and reads its result. app/learning/explorer/exploration_runner.py runs them.

They are in a table and not in memory: if workers grade, the process that receives the request has no judge.
"""

import hashlib
import json
import math
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version as installed
from typing import Literal, cast

from sqlalchemy import ColumnElement, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.caller import User
from app.core.clock import now
from app.core.database import Database
from app.core.errors import NotSignedIn
from app.core.ids import is_id, new_id
from app.core.rest.paging import Cursor, Page, paged
from app.core.view import View
from app.grading.attempts.guests import admit_guest, share_of
from app.grading.attempts.source_rules import check_source
from app.grading.queue.fair_share import close_up, line_up
from app.grading.queue.protocol import Enqueue
from app.learning.explorer.errors import (
    ExplorationNotFound,
    ExplorationsFull,
    FunctionRefused,
    NothingToExplore,
    TooManyExplorations,
)
from app.learning.explorer.guests import refuse_large
from app.learning.explorer.models import ExplorationRow
from app.problems.catalogue import Catalogue
from app.problems.visibility import Visibility
from grader.core.chips import CHIPS, ChipName, compiler_of
from grader.core.reasons import Reason
from grader.explorer.exploration import Explored
from grader.inputs.explored_function import Function, faults_of
from grader.package.package import Package, ProgramManifest

ExplorationStatus = Literal["queued", "running", "finished"]
MAX_WAITING = 3
MAX_KEPT = 200
# Raised when the readers of a program or the messages change, so that no kept result is used again.
_READERS = 5
# Not memory: what a program takes does not depend on others.
_CAUSED_BY_LOAD: frozenset[Reason] = frozenset({"time_limit", "killed", "divergent_collective"})


@dataclass(frozen=True, slots=True)
class ExplorationLimits:
    max_source_bytes: int
    guest_runs_per_address: int = 0
    guest_runs_in_total: int = 0


class ExplorationSummary(View):
    """An entry of the list. `has_fault` is null until it has finished. `shared_at` is null unless it is shared.

    `problem` and `version` are null if a `function` was explored. In a list, a function is without its modules.
    """

    id: str
    problem: str | None
    version: str | None
    function: Function | None
    chip: ChipName | None
    status: ExplorationStatus
    is_comparison: bool
    has_fault: bool | None
    created_at: datetime
    finished_at: datetime | None
    shared_at: datetime | None


@dataclass(frozen=True, slots=True)
class Exploration:
    """One exploration, read by its owner or, once it is shared, by anyone. `result` is None until it has finished.

    `phase` is what a running one is doing, if that is known.
    """

    summary: ExplorationSummary
    is_mine: bool
    source: str
    against: str | None
    phase: str | None
    result: Explored | None


class Explorations:
    """Safe to share between requests. `enqueue` is the queue's."""

    def __init__(
        self,
        database: Database,
        catalogue: Catalogue,
        limits: ExplorationLimits,
        visibility: Visibility,
        enqueue: Enqueue = line_up,
    ) -> None:
        self._database = database
        self._catalogue = catalogue
        self._limits = limits
        self._visibility = visibility
        self._enqueue = enqueue

    def package(self, slug: str) -> Package:
        """A problem that gives inputs and meshes. Raises: ProblemNotFound; NothingToExplore: it is of another mode."""
        package = self._catalogue.get(slug)
        if package.manifest.mode != "program":
            raise NothingToExplore(
                f"{package.slug} is in {package.manifest.mode} mode. Only a program-mode problem has a "
                "step that is compiled for a mesh."
            )
        return package

    async def request(
        self,
        user: User,
        subject: str | Function,
        source: str,
        against: str | None = None,
        *,
        chip: ChipName | None = None,
        replaces: str = "",
    ) -> Exploration:
        """Queue an exploration of a source, and of another one to compare it with. Equal work is not done twice.

        Args:
          subject: the slug of a problem, which gives inputs and meshes; or a function with its own.
          chip: also compile it for a slice of these chips.
          replaces: the id of an earlier exploration of the user, which is deleted unless it is shared.
        Raises:
          ProblemNotFound, NothingToExplore: the problem gives none.
          FunctionRefused: the inputs do not fit the mesh.
          SourceRefused: a source cannot be stored or run.
          NotSignedIn: a guest may explore only small meshes. TooManyGuestRuns.
          TooManyExplorations, ExplorationsFull.
          ExamOpen: an open exam closes the Explorer to this user, or for this problem to everyone.
        """
        package = function = None
        if isinstance(subject, str):
            package = self.package(subject)
        elif faults := faults_of(subject):
            raise FunctionRefused(" ".join(faults))
        else:
            function = subject.model_dump(mode="json")
        await self._visibility.require_explorer(user, package.slug if package else None)
        if user.guest is not None:
            refuse_large(_devices(package, subject), chip)
        check_source(source, self._limits.max_source_bytes)
        if against is not None:
            check_source(against, self._limits.max_source_bytes)
        row = ExplorationRow(
            id=new_id(),
            user_id=user.id,
            share=share_of(user),
            guest=user.guest and user.guest.browser,
            digest=_digest(package.identity if package else function, source, against, chip),
            problem=package and package.slug,
            version=package and package.version,
            variant=package and package.variant_name,
            function=function,
            source=source,
            against=against,
            chip=chip,
            created_at=now(),
        )
        async with self._database.writing() as session:
            # The one that is replaced may have the result of equal work.
            row.result = await _earlier_result(session, row.digest)
            replaced = (ExplorationRow.id == replaces, ExplorationRow.shared_at.is_(None), *_of(user))
            drop = delete(ExplorationRow).where(*replaced).returning(ExplorationRow.status)
            waited = "queued" in (await session.scalars(drop)).all()
            if waited:
                await close_up(session, row)
            await _refuse_too_many(session, user)
            # One that was replaced before it began has cost nothing, so this one takes its turn.
            if user.guest is not None and not waited:
                per_address, in_total = self._limits.guest_runs_per_address, self._limits.guest_runs_in_total
                await admit_guest(session, user.guest, per_address=per_address, in_total=in_total)
            if row.result is None:
                await self._enqueue(session, row)
            else:
                row.status, row.tries, row.finished_at = "finished", 0, row.created_at
                session.add(row)
            await session.flush()
            stored = _exploration(row, user)
        return stored

    async def stored_result(self, package: Package, source: str, chip: ChipName | None = None) -> Explored | None:
        """What this source compiles to for the problem, if anyone has explored it and the result is kept."""
        async with self._database.reading() as session:
            found = await _earlier_result(session, _digest(package.identity, source, None, chip))
        return None if found is None else Explored.model_validate(found)

    async def get(self, user: User | None, exploration_id: str) -> Exploration:
        """Raises `ExplorationNotFound`, even if it exists and belongs to someone who does not share it, or is about a
        private problem that the user does not see.

        For anyone who is not signed in, it raises `NotSignedIn`, whether or not it exists. Raises `ExamOpen` as
        `request` does.
        """
        row = None
        if is_id(exploration_id):
            async with self._database.reading() as session:
                row = await session.get(ExplorationRow, exploration_id)
        if row is not None and (_is_of(row, user) or (row.shared_at is not None and not await self._hides(row))):
            await self._visibility.require_explorer(user, row.problem)
            return _exploration(row, user)
        if user is None or user.guest is not None:
            raise NotSignedIn("Sign in to see this exploration, unless its owner shares it.")
        raise _not_found(exploration_id)

    async def _hides(self, row: ExplorationRow) -> bool:
        return row.problem is not None and await self._visibility.hides(row.problem, row.version or "")

    async def list(self, user: User, cursor: Cursor) -> Page[ExplorationSummary]:
        """The user's own, newest first. Raises `ExplorationNotFound` for the cursor."""
        row = ExplorationRow
        by = (row.created_at, row.id)
        async with self._database.reading() as session:
            missing = _not_found if user.guest is None else _not_found_by_guest
            return await paged(session, select(row).where(*_of(user)), by, cursor, _entry, missing=missing)

    async def share(self, user: User, exploration_id: str, *, shared: bool) -> None:
        """Open it to everyone with the link, or close it again.

        Raises:
          ExplorationNotFound.
          NotSignedIn: a guest's is deleted after a day, so it has no link to share.
        """
        if user.guest is not None:
            raise NotSignedIn("To share an exploration, sign in and explore it again.")
        async with self._database.writing() as session:
            found = await _own(session, user, exploration_id)
            if shared != (found.shared_at is not None):
                values = {"shared_at": now() if shared else None}
                await session.execute(update(ExplorationRow).where(ExplorationRow.id == found.id).values(**values))

    async def remove(self, user: User, exploration_id: str) -> None:
        """Delete it. If it is queued or running, it is stopped. Raises `ExplorationNotFound`."""
        async with self._database.writing() as session:
            found = await _own(session, user, exploration_id)
            await session.execute(delete(ExplorationRow).where(ExplorationRow.id == found.id))
            await close_up(session, found)


async def _refuse_too_many(session: AsyncSession, user: User) -> None:
    is_waiting = ExplorationRow.status != "finished"
    count = select(func.count(), func.count().filter(is_waiting)).select_from(ExplorationRow).where(*_of(user))
    stored, waiting = (await session.execute(count)).one()
    if waiting >= MAX_WAITING:
        raise TooManyExplorations(
            f"{waiting} of your explorations have not finished, which is the maximum. Wait for one of them, or delete "
            "one.",
            headers={"Retry-After": "5"},
        )
    if stored >= MAX_KEPT:
        raise ExplorationsFull(f"You have {stored} explorations, which is the maximum. Delete some first.")


async def _own(session: AsyncSession, user: User, exploration_id: str) -> ExplorationRow:
    row = await session.get(ExplorationRow, exploration_id) if is_id(exploration_id) else None
    if row is None or not _is_of(row, user):
        raise _not_found(exploration_id) if user.guest is None else _not_found_by_guest(exploration_id)
    return row


def _of(user: User) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return ExplorationRow.user_id == user.id, ExplorationRow.guest.is_not_distinct_from(_browser(user))


def _is_of(row: ExplorationRow, user: User | None) -> bool:
    return user is not None and (row.user_id, row.guest) == (user.id, _browser(user))


def _browser(user: User) -> str | None:
    return user.guest.browser if user.guest else None


def _devices(package: Package | None, subject: str | Function) -> int:
    """The number of devices of the largest mesh."""
    if isinstance(subject, Function):
        return subject.devices
    assert package is not None
    assert isinstance(package.manifest, ProgramManifest)
    return max(math.prod(mesh.values()) for mesh in package.manifest.program.meshes)


def _not_found_by_guest(exploration_id: str) -> NotSignedIn:
    return NotSignedIn("This browser has sent no exploration with this id. If it is one of yours, sign in.")


def _not_found(exploration_id: str) -> ExplorationNotFound:
    return ExplorationNotFound(
        f"You have no exploration with the id {exploration_id[:64]!r}, and none is shared with you."
    )


async def _earlier_result(session: AsyncSession, digest: str) -> dict[str, object] | None:
    """The result of equal work, if another try would give the same."""
    query = (
        select(ExplorationRow.result)
        .where(ExplorationRow.digest == digest, ExplorationRow.status == "finished")
        .order_by(ExplorationRow.created_at.desc())
        .limit(1)
    )
    found: dict[str, object] | None = await session.scalar(query)
    if found is None or _may_differ(Explored.model_validate(found)):
        return None
    return found


def _may_differ(result: Explored) -> bool:
    """Whether a busy or failing machine may have caused a fault in it."""
    if result.fault is not None:
        return result.fault.reason is None or result.fault.reason in _CAUSED_BY_LOAD
    # Without a compiler, nothing was tried.
    tried = [
        each.on_chip
        for each in (*result.programs, *result.against)
        if each.on_chip is not None and each.on_chip.compiler
    ]
    return any(each.fault is not None for each in tried)


def _digest(subject: str | dict[str, object] | None, source: str, against: str | None, chip: ChipName | None) -> str:
    """Equal for equal work: the same problem version or function, sources, compilers and readers."""
    work = [_READERS, installed("jax"), installed("jaxlib"), subject, source, against]
    if chip is not None:
        work += [chip, compiler_of(CHIPS[chip].platform)]
    return hashlib.sha256(json.dumps(work).encode()).hexdigest()


def _exploration(row: ExplorationRow, user: User | None) -> Exploration:
    return Exploration(
        summary=_summary(row),
        is_mine=_is_of(row, user),
        source=row.source,
        against=row.against,
        phase=row.phase if row.status == "running" else None,
        result=None if row.result is None else Explored.model_validate(row.result),
    )


def _entry(row: ExplorationRow) -> ExplorationSummary:
    """An entry of a list, without the sources of modules, which can have 64 KiB each time."""
    summary = _summary(row)
    if summary.function is None:
        return summary
    return summary.model_copy(update={"function": summary.function.model_copy(update={"modules": {}})})


def _summary(row: ExplorationRow) -> ExplorationSummary:
    return ExplorationSummary(
        id=row.id,
        problem=row.problem,
        version=row.version,
        function=None if row.function is None else Function.model_validate(row.function),
        chip=cast(ChipName | None, row.chip),
        status=cast(ExplorationStatus, row.status),
        is_comparison=row.against is not None,
        has_fault=None if row.result is None else row.result.get("fault") is not None,
        created_at=row.created_at,
        finished_at=row.finished_at,
        shared_at=row.shared_at,
    )
