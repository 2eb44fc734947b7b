"""Explorations: a person requests one, and reads its result. app/learning/explorer/exploration_runner.py runs them.

They are in a table and not in memory: if workers grade, the process that receives the request has no judge.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from typing import Any

from sqlalchemy import Text, cast, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.caller import User
from app.core.clock import now
from app.core.database import Database
from app.core.errors import NotSignedIn
from app.core.ids import is_id
from app.core.kept_json import KeptJSON
from app.core.rest.paging import Cursor, Page
from app.grading.attempts.source_rules import check_source
from app.grading.owned_work import UsersJobs, WorkLimits, is_owned_by
from app.grading.queue.events import WorkEvents
from app.grading.queue.protocol import Enqueue
from app.learning.explorer.errors import (
    ExplorationNotFound,
    ExplorationsFull,
    FunctionRefused,
    NothingToExplore,
    OptionsRefused,
    TooManyExplorations,
)
from app.learning.explorer.guests import refuse_large
from app.learning.explorer.models import ExplorationRow
from app.learning.explorer.schemas import ExplorationJSON, ExplorationSummary, RequestedExploration
from app.problems.catalogue import Catalogue
from app.problems.visibility import Visibility
from grader.core.chips import CHIPS, ChipName, compiler_of
from grader.core.reasons import Reason
from grader.core.xla_options import read_given
from grader.explorer.exploration import Explored
from grader.inputs.explored_function import Function, faults_of
from grader.package.package import Package, ProgramManifest

MAX_KEPT = 200
# Raised when the readers of a program or the messages change, so that no kept result is used again.
_READERS = 6
# Not memory: what a program takes does not depend on others.
_CAUSED_BY_LOAD: frozenset[Reason] = frozenset({"time_limit", "killed", "divergent_collective"})


class Explorations(UsersJobs[ExplorationRow, ExplorationJSON]):
    """An owner can also share one: then anyone reads it who has the link."""

    rows = ExplorationRow
    most_unfinished = 3
    too_many = TooManyExplorations
    unknown_here = "This browser has sent no exploration with this id. If it is one of yours, sign in."

    def __init__(
        self,
        database: Database,
        catalogue: Catalogue,
        limits: WorkLimits,
        visibility: Visibility,
        enqueue: Enqueue,
        events: WorkEvents,
    ) -> None:
        super().__init__(database, limits, enqueue, events)
        self._catalogue = catalogue
        self._visibility = visibility

    def view(self, row: ExplorationRow) -> ExplorationJSON:
        return self._view(row, row.whole_result)

    def _view(self, row: ExplorationRow, result: dict[str, object] | None) -> ExplorationJSON:
        phase = row.phase if row.status == "running" else None
        whole = {"is_mine": True, "source": row.source, "against": row.against, "phase": phase}
        whole |= {"result": result, "partial_result": row.partial_result}
        whole |= {"xla_options": row.xla_options, "against_xla_options": row.against_xla_options}
        return ExplorationJSON.model_validate(dict(ExplorationSummary.of(row)) | whole)

    def not_found(self, work_id: str) -> ExplorationNotFound:
        return ExplorationNotFound(f"You have no exploration with the id {work_id!r}, and none is shared with you.")

    def too_many_because(self, user: User, unfinished: int) -> str:
        return (
            f"{unfinished} of your explorations have not finished, which is the maximum. Wait for one of them, or "
            "delete one."
        )

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
        options: Mapping[str, str] | None = None,
        against_options: Mapping[str, str] | None = None,
        replaces: str = "",
    ) -> RequestedExploration:
        """Queue an exploration of a source, and of another one to compare it with. Equal work is not done twice.

        Args:
          subject: the slug of a problem, which gives inputs and meshes; or a function with its own.
          chip: also compile it for a slice of these chips.
          options: of XLA, for a GPU.
          against_options: those for the other source, if they are not the same. Without such a source, the first one is
            compared with itself.
          replaces: the id of an earlier exploration of the user, which is deleted unless it is shared.
        Raises:
          ProblemNotFound, NothingToExplore: the problem gives none.
          FunctionRefused: the inputs do not fit the mesh.
          OptionsRefused: an option of XLA is not taken, or not with this value.
          SourceRefused: a source cannot be stored or run.
          NotSignedIn: a guest may explore only small meshes. TooManyGuestRuns.
          TooManyExplorations, ExplorationsFull.
          ExamOpen: an open exam closes the Explorer to this user, or for this problem to everyone.
        """
        package, function = self._read_subject(subject)
        await self._visibility.require_explorer(user, package.slug if package else None)
        chosen, other = _read_options(options or {}), None
        if against_options is not None:
            other, against = _read_options(against_options), source if against is None else against
        elif against is not None:
            other = chosen
        if user.guest is not None:
            refuse_large(_devices(package, subject), chip)
        for each in (source, against):
            if each is not None:
                check_source(each, self._limits.max_source_bytes)
        row = self._new(
            user,
            digest=_digest(package.identity if package else function, source, against, chip, chosen, other),
            problem=package and package.slug,
            version=package and package.version,
            variant=package and package.variant_name,
            function=function,
            source=source,
            against=against,
            chip=chip,
            xla_options=chosen or None,
            against_xla_options=other or None,
        )
        async with self._database.writing() as session:
            # The one that is replaced may have the result of equal work.
            earlier = await _earlier_result(session, row.digest)
            which = (ExplorationRow.id == replaces, ExplorationRow.shared_at.is_(None))
            waited = bool(replaces) and await self._replace(session, user, row, *which)
            # One that was replaced before it began has cost nothing, so this one takes its turn.
            await self._admit(session, user, is_counted=not waited)
            await self._refuse_full(session, user)
            if earlier is None:
                await self._enqueue(session, row)
            else:
                row.status, row.tries, row.finished_at, row.result = "finished", 0, row.created_at, earlier
                session.add(row)
            await session.flush()
            return RequestedExploration(self._view(row, None), None if earlier is None else earlier.text)

    def _read_subject(self, subject: str | Function) -> tuple[Package | None, dict[str, object] | None]:
        if isinstance(subject, str):
            return self.package(subject), None
        if faults := faults_of(subject):
            raise FunctionRefused(" ".join(faults))
        return None, subject.model_dump(mode="json")

    async def _refuse_full(self, session: AsyncSession, user: User) -> None:
        count = select(func.count()).select_from(ExplorationRow).where(*self.owned_by(user))
        stored = await session.scalar(count) or 0
        if stored >= MAX_KEPT:
            raise ExplorationsFull(f"You have {stored} explorations, which is the maximum. Delete some first.")

    async def stored_result(self, package: Package, source: str, chip: ChipName | None = None) -> Explored | None:
        """What this source compiles to for the problem, if anyone has explored it and the result is kept."""
        async with self._database.reading() as session:
            earlier = await _earlier_result(session, _digest(package.identity, source, None, chip, {}, None))
        return None if earlier is None else Explored.model_validate(earlier)

    async def get(self, owner: User | None, work_id: str) -> ExplorationJSON:
        """Raises `ExplorationNotFound`, even if it exists and belongs to someone who does not share it, or is about a
        private problem that the user does not see.

        For anyone who is not signed in, it raises `NotSignedIn`, whether or not it exists. Raises `ExamOpen` as
        `request` does.
        """
        row = None
        if is_id(work_id):
            async with self._database.reading() as session:
                row = await session.get(ExplorationRow, work_id)
        is_mine = row is not None and is_owned_by(row, owner)
        if row is not None and (is_mine or (row.shared_at is not None and not await self._hides(row))):
            await self._visibility.require_explorer(owner, row.problem)
            return self.view(row).model_copy(update={"is_mine": is_mine})
        if owner is None or owner.guest is not None:
            raise NotSignedIn("Sign in to see this exploration, unless its owner shares it.")
        raise self.not_found(work_id[:64])

    async def _hides(self, row: ExplorationRow) -> bool:
        return row.problem is not None and await self._visibility.hides(row.problem, row.version or "")

    async def list(self, user: User, cursor: Cursor) -> Page[ExplorationSummary]:
        """The user's own, newest first. Raises `ExplorationNotFound` for the cursor."""
        async with self._database.reading() as session:
            return await self._page(session, user, cursor, ExplorationSummary.in_list)

    async def share(self, user: User, exploration_id: str, *, shared: bool) -> None:
        """Open it to everyone with the link, or close it again.

        Raises:
          ExplorationNotFound.
          NotSignedIn: a guest's is deleted after a day, so it has no link to share.
        """
        if user.guest is not None:
            raise NotSignedIn("To share an exploration, sign in and explore it again.")
        async with self._database.writing() as session:
            found = await self._find(session, user, exploration_id)
            if shared != (found.shared_at is not None):
                values = {"shared_at": now() if shared else None}
                await session.execute(update(ExplorationRow).where(ExplorationRow.id == found.id).values(**values))


def _devices(package: Package | None, subject: str | Function) -> int:
    """The number of devices of the largest mesh."""
    if isinstance(subject, Function):
        return subject.devices
    assert package is not None
    assert isinstance(package.manifest, ProgramManifest)
    return max(math.prod(mesh.values()) for mesh in package.manifest.program.meshes)


async def _earlier_result(session: AsyncSession, digest: str) -> KeptJSON | None:
    """The result of equal work, if another try would give the same."""
    query = (
        select(cast(ExplorationRow.result, Text))
        .where(ExplorationRow.digest == digest, ExplorationRow.status == "finished")
        .order_by(ExplorationRow.created_at.desc())
        .limit(1)
    )
    text: str | None = await session.scalar(query)
    if text is None:
        return None
    result = KeptJSON(text)
    return None if _may_differ(result) else result


def _may_differ(result: Mapping[str, Any]) -> bool:
    """Whether a busy or failing machine may have caused a fault in it.

    Args:
      result: an `Explored` as it was stored. Validating all of it takes longer than the rest of a request.
    """
    if result["fault"] is not None:
        reason = result["fault"]["reason"]
        return reason is None or reason in _CAUSED_BY_LOAD
    # Without a compiler, nothing was tried.
    on_chip = [each["on_chip"] for each in (*result["programs"], *result["against"])]
    return any(each["fault"] is not None for each in on_chip if each is not None and each["compiler"])


def _read_options(options: Mapping[str, str]) -> dict[str, str]:
    """The options in the stored form, sorted by name, so that equal ones have an equal digest."""
    try:
        return dict(sorted(read_given(list(options.items())).items()))
    except ValueError as error:
        raise OptionsRefused(str(error)) from None


@cache
def _installed_versions() -> tuple[str, str]:
    """Of JAX and of jaxlib. Python reads them from files."""
    return version("jax"), version("jaxlib")


def _digest(
    subject: str | dict[str, object] | None,
    source: str,
    against: str | None,
    chip: ChipName | None,
    options: Mapping[str, str],
    against_options: Mapping[str, str] | None,
) -> str:
    """Equal for equal work: the same problem version or function, sources, compilers and readers."""
    work: list[object] = [_READERS, *_installed_versions(), subject, source, against]
    if chip is not None:
        work += [chip, compiler_of(CHIPS[chip].platform)]
    if options or against_options:
        work += [options, against_options]
    return hashlib.sha256(json.dumps(work).encode()).hexdigest()
