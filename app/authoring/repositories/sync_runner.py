"""Runs syncs: reads a repository, and stores each package in it that changed as a version. At most two at a time."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from sqlalchemy import delete, func, select, update

from app.accounts.caller import User
from app.authoring.repositories.errors import SyncFailed
from app.authoring.repositories.folder import read_folder
from app.authoring.repositories.git import Remote, read_git
from app.authoring.repositories.models import RepositoryRow, SyncRow
from app.authoring.repositories.service import LIFE, Cause, Repositories, Sync, check_git_url, sync_of
from app.authoring.repositories.tree import FoundPackage, Snapshot
from app.authoring.service import Authoring
from app.authoring.upload_review import review_in_bounds
from app.core.background_loop import Loop
from app.core.clock import now
from app.core.database import Database
from app.core.errors import PackageRefused, Refused
from app.core.ids import new_id
from app.core.outbound_requests import addresses_of
from app.problems.catalogue_refresh import CatalogueRefresh
from app.problems.models import PackageRow
from grader.package.fault import MANIFEST_FILE, PackageFault, manifest_fault

log = logging.getLogger(__name__)

_AT_ONCE = 2
_SYNCS_PER_REPOSITORY = 50
_MOST_FAULTS = 20


class Syncs:
    """Safe to share between requests. A sync runs in the process that received the request for it."""

    def __init__(
        self, database: Database, repositories: Repositories, authoring: Authoring, serving: CatalogueRefresh
    ) -> None:
        self._database = database
        self._repositories = repositories
        self._authoring = authoring
        self._serving = serving
        self._waiting: asyncio.Queue[tuple[User, Sync]] = asyncio.Queue()
        self.loops = [Loop("syncing a repository", self._next) for _ in range(_AT_ONCE)]

    async def request(self, user: User, repository_id: str, cause: Cause) -> Sync:
        """Begin a sync. If one is running, return that one, and begin another when it has finished.

        Raises:
          RepositoryNotFound.
        """
        async with self._database.writing() as session:
            # Locked, so that the second of two simultaneous requests finds the sync of the first.
            repository = await self._repositories.find(session, repository_id, lock=True)
            running = await session.scalar(
                select(SyncRow)
                .where(SyncRow.repository_id == repository.id, SyncRow.finished_at.is_(None), SyncRow.until > now())
                .order_by(SyncRow.created_at.desc())
                .limit(1)
            )
            if running is not None:
                running.again = True
                return sync_of(running)
            row = _new_row(repository.id, cause)
            session.add(row)
            sync = sync_of(row)
        self._waiting.put_nowait((user, sync))
        return sync

    async def settled(self) -> None:
        """Wait for all syncs of this process."""
        await self._waiting.join()

    async def _next(self) -> bool:
        """Run one sync. If this fails, the page shows it as interrupted."""
        user, sync = await self._waiting.get()
        try:
            if following := await self._once(user, sync):
                self._waiting.put_nowait((user, following))
        finally:
            self._waiting.task_done()
        return True

    async def _once(self, user: User, sync: Sync) -> Sync | None:
        """Returns the next sync, if one was requested during this one."""
        snapshot, fault, problems = Snapshot(None, ()), None, []
        try:
            await self._renew(sync)
            snapshot = await self._read(sync.repository)
            beside = await _uuids_in(snapshot)
            seen: dict[str, str] = {}
            for each in snapshot.packages:
                problems.append(await self._store(user, each, beside, seen))
        except (SyncFailed, Refused) as failure:
            fault = str(failure)[:500]
        except Exception:  # whatever failed, the sync ends, and its page says so
            log.exception("sync %s of repository %s failed", sync.id, sync.repository)
            fault = "The server failed. Its log says why."
        log.info(
            "user %s synced repository %s (%s): %s problems%s",
            *(user.id, sync.repository, sync.cause, len(problems), ", failed" if fault else ""),
        )
        async with self._database.writing() as session:
            row = await session.get(SyncRow, sync.id, with_for_update=True)
            if row is None:  # the repository was removed
                return None
            row.commit, row.fault, row.problems, row.finished_at = snapshot.commit, fault, problems, now()
            old = (
                select(SyncRow.id)
                .where(SyncRow.repository_id == sync.repository)
                .order_by(SyncRow.created_at.desc(), SyncRow.id.desc())
                .offset(_SYNCS_PER_REPOSITORY)
            )
            ids = list(await session.scalars(old))
            await session.execute(delete(SyncRow).where(SyncRow.id.in_(ids)))
            if not row.again:
                return None
            another = _new_row(sync.repository, "webhook" if sync.cause == "webhook" else "person")
            session.add(another)
            return sync_of(another)

    async def _renew(self, sync: Sync) -> None:
        """It may have waited for other syncs."""
        async with self._database.writing() as session:
            await session.execute(update(SyncRow).where(SyncRow.id == sync.id).values(until=now() + LIFE))

    async def _read(self, repository_id: str) -> Snapshot:
        settings, stop = self._repositories.settings, self._repositories.stop
        async with self._database.reading() as session:
            row = await session.get(RepositoryRow, repository_id)
            if row is None:
                raise SyncFailed("The repository was removed.")
        if row.kind == "folder":
            path = Path(row.address, row.folder) if row.folder else Path(row.address)
            return await asyncio.to_thread(read_folder, str(path), settings.sync_paths)
        # Again, because the operator may have changed the setting.
        check_git_url(row.address, private=settings.sync_private)
        parts = urlsplit(row.address)
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
        try:
            addresses = await addresses_of(host, port, private=settings.sync_private)
        except OSError as error:  # also AddressRefused
            raise SyncFailed(f"{host} cannot be used: {error}.") from None
        token = self._repositories.token_of(row)
        remote = Remote(row.address, host, port, tuple(addresses), row.branch, row.folder, row.username, token)
        try:
            return await asyncio.to_thread(read_git, remote, stop)
        except asyncio.CancelledError:
            stop.set()
            raise

    async def _store(
        self, user: User, found: FoundPackage, beside: Mapping[str, UUID], seen: dict[str, str]
    ) -> dict[str, Any]:
        """Store a package as a version, and report the outcome. Nothing that a rule calls an error is stored."""
        if found.faults:
            return _result(found, None, "refused", None, found.faults)
        others = {**self._serving.uuids(), **beside}
        review = await review_in_bounds(found.files, self._authoring.ceiling, others)
        errors = [each for each in review.faults if each.level == "error"]
        if review.identity is None:
            return _result(found, None, "refused", None, errors)
        slug, version, _ = review.identity
        if (other := seen.setdefault(slug, found.folder)) != found.folder:
            same_slug = manifest_fault("name", None, f"the folder {other} has the same slug")
            return _result(found, slug, "refused", None, [same_slug])
        async with self._database.reading() as session:
            is_known = await session.scalar(select(func.count()).where(PackageRow.slug == slug))
            if await session.get(PackageRow, version) is not None:
                return _result(found, slug, "unchanged", version, [])
        if errors:
            return _result(found, slug, "refused", None, errors)
        try:
            await self._authoring.add(user, slug, found.files, beside=beside)
        except PackageRefused as refusal:
            located = [each.located(found.files[MANIFEST_FILE]) for each in refusal.faults]
            return _result(found, slug, "refused", None, located)
        return _result(found, slug, "updated" if is_known else "new", version, [])


def _new_row(repository_id: str, cause: Cause) -> SyncRow:
    return SyncRow(
        id=new_id(),
        repository_id=repository_id,
        cause=cause,
        again=False,
        problems=[],
        created_at=now(),
        until=now() + LIFE,
    )


async def _uuids_in(snapshot: Snapshot) -> dict[str, UUID]:
    """The uuid of each package by its slug, so that one package may name another that comes with it."""
    found: dict[str, UUID] = {}
    for each in snapshot.packages:
        if not each.faults and (identity := (await review_in_bounds(each.files)).identity) is not None:
            slug, _, uuid = identity
            found.setdefault(slug, uuid)
    return found


def _result(
    found: FoundPackage, slug: str | None, outcome: str, version: str | None, errors: Sequence[PackageFault]
) -> dict[str, Any]:
    shown = [
        {"rule": each.rule, "file": each.file[:200], "line": each.line, "message": each.message[:500]}
        for each in errors[:_MOST_FAULTS]
    ]
    return {
        "folder": "" if found.folder == "." else found.folder[:500],
        "problem": slug,
        "outcome": outcome,
        "version": version,
        "errors": shown,
        "more_errors": max(0, len(errors) - _MOST_FAULTS),
    }
