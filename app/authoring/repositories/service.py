"""Repositories: an instructor registers one, and syncs it. What a sync does is in sync_runner.py."""

import asyncio
import hashlib
import hmac
import os
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Literal, cast
from urllib.parse import urlsplit

from joserfc import jwe
from joserfc.jwk import OctKey
from pydantic import Field
from sqlalchemy import delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit.log import record
from app.accounts.caller import User
from app.accounts.models import UserRow
from app.accounts.roles import Role, is_at_least
from app.authoring.repositories.errors import (
    GitMissing,
    HookRefused,
    RepositoryNotFound,
    RepositoryRefused,
    SyncNotFound,
    TooManyRepositories,
)
from app.authoring.repositories.folder import check_folder
from app.authoring.repositories.git import NEEDED, usable_git
from app.authoring.repositories.models import RepositoryRow, SyncRow
from app.authoring.repositories.push_webhook import check_hook, hook_secret, is_of_interest
from app.core.clock import now
from app.core.database import Database
from app.core.errors import FieldInvalid, WebhookURLRefused
from app.core.ids import is_id, new_id
from app.core.outbound_requests import URL_PATTERN, check_url
from app.core.rest.paging import Cursor, Page, paged
from app.core.settings import Settings
from app.core.view import View

Kind = Literal["git", "folder"]
Cause = Literal["person", "webhook"]
BRANCH_PATTERN = r"^([A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*)?$"
FOLDER_PATTERN = r"^([A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*)?$"
USERNAME_PATTERN = r"^[A-Za-z0-9._+@-]{1,100}$"
TOKEN_PATTERN = r"^[!-~]{1,500}$"
LONGEST_ADDRESS = 500
LONGEST_NAME = 200
USERNAME = "x-access-token"
MOST = 50
_SEAL = {"alg": "dir", "enc": "A256GCM"}
# Longer than fetching may take. Then the process that ran the sync has died.
LIFE = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class NewRepository:
    """`branch` may be empty, which is the default branch, and so may `folder`, which is the whole repository."""

    kind: Kind
    address: str
    branch: str = ""
    folder: str = ""
    username: str = USERNAME
    access_token: str | None = None


class Repository(View):
    """Where packages are synced from."""

    id: str
    kind: Kind
    address: str
    branch: str
    folder: str
    has_token: Annotated[bool, Field(serialization_alias="has_access_token")]
    registered_by: str
    created_at: datetime


class SyncError(View):
    """A rule of docs/checking.md that the package breaks."""

    rule: str
    file: str
    line: int | None
    message: str


class SyncedProblem(View):
    """The outcome of one package. `problem` is null if its manifest cannot be read, and `version` if it was refused.

    `unchanged` means that this version was already stored. At most 20 errors are listed; `more_errors` counts the rest.
    """

    folder: str
    problem: str | None
    outcome: Literal["new", "updated", "unchanged", "refused"]
    version: str | None
    errors: list[SyncError]
    more_errors: int


class Sync(View):
    """A sync. `fault` says why nothing could be read. `commit` is null for a folder, and until it has finished.

    `status` is `interrupted` if the server stopped during the sync.
    """

    id: str
    repository: str
    cause: Cause
    status: Literal["running", "finished", "interrupted"]
    commit: str | None
    fault: str | None
    problems: list[SyncedProblem]
    created_at: datetime
    finished_at: datetime | None

    def count(self, outcome: str) -> int:
        return sum(each.outcome == outcome for each in self.problems)


class Repositories:
    """Safe to share between requests. Every instructor sees and syncs all of them, as with problems."""

    def __init__(self, database: Database, deployment_secret: bytes, settings: Settings) -> None:
        self._database = database
        self._deployment_secret = deployment_secret
        self._seal = OctKey.import_key(hmac.digest(deployment_secret, b"repository token", hashlib.sha256))
        self.settings = settings
        self.stop = threading.Event()

    async def add(self, user: User, new: NewRepository) -> tuple[Repository, str]:
        """Register a repository.

        Returns:
          the repository and the secret of its webhook, which is not shown again.
        Raises:
          FieldInvalid, RepositoryRefused, TooManyRepositories.
          GitMissing: it is a git repository, and there is no git.
        """
        address = await self._checked(new)
        row = RepositoryRow(
            id=new_id(),
            user_id=user.id,
            kind=new.kind,
            address=address,
            branch=new.branch,
            folder=new.folder,
            username=new.username,
            sealed_token=self._sealed(new.access_token),
            created_at=now(),
        )
        async with self._database.writing() as session:
            if (await session.scalar(select(func.count()).select_from(RepositoryRow)) or 0) >= MOST:
                raise TooManyRepositories(f"There are {MOST} repositories, which is the maximum. Remove one first.")
            session.add(row)
            record(session, user, "repository-added", None, "", address[:200])
        return _repository(row, user.name), hook_secret(self._deployment_secret, row.id)

    async def every(self) -> list[Repository]:
        """All repositories, by address."""
        query = select(RepositoryRow, UserRow.name).join(UserRow, UserRow.id == RepositoryRow.user_id)
        async with self._database.reading() as session:
            rows = await session.execute(query.order_by(RepositoryRow.address, RepositoryRow.id))
            return [_repository(row, name) for row, name in rows]

    async def get(self, repository_id: str) -> Repository:
        """Raises `RepositoryNotFound`."""
        async with self._database.reading() as session:
            row = await self.find(session, repository_id)
            return _repository(row, (await session.get_one(UserRow, row.user_id)).name)

    async def remove(self, user: User, repository_id: str) -> None:
        """Delete it, its access token and its syncs. The versions stay. Raises `RepositoryNotFound`."""
        async with self._database.writing() as session:
            row = await self.find(session, repository_id)
            record(session, user, "repository-removed", None, "", row.address[:200])
            await session.execute(delete(RepositoryRow).where(RepositoryRow.id == row.id))

    async def syncs(self, repository_id: str, cursor: Cursor) -> Page[Sync]:
        """The syncs of a repository, newest first. Raises `RepositoryNotFound`, and `SyncNotFound` for the cursor."""
        row = SyncRow
        async with self._database.reading() as session:
            await self.find(session, repository_id)
            query = select(row).where(row.repository_id == repository_id)
            by = (row.created_at, row.id)
            return await paged(session, query, by, cursor, sync_of, missing=_no_sync)

    async def get_sync(self, repository_id: str, sync_id: str) -> Sync:
        """Raises `SyncNotFound`."""
        async with self._database.reading() as session:
            return sync_of(await _find_sync(session, repository_id, sync_id))

    async def from_hook(self, repository_id: str, headers: Mapping[str, str], body: bytes) -> tuple[User, bool]:
        """The instructor for whom an authentic webhook acts, and whether it means new content.

        Raises:
          RepositoryNotFound.
          HookRefused: it is not authentic, or the instructor who registered the repository no longer is one.
        """
        async with self._database.reading() as session:
            row = await self.find(session, repository_id)
            check_hook(hook_secret(self._deployment_secret, row.id), headers, body)
            user = await session.get_one(UserRow, row.user_id)
            role = cast(Role, user.role)
        if user.deactivated_at is not None or not is_at_least(role, "instructor"):
            raise HookRefused("The account that registered the repository may no longer write problems.")
        return User(user.id, user.name, role), is_of_interest(headers, body, row.branch)

    def token_of(self, row: RepositoryRow) -> str | None:
        if row.sealed_token is None:
            return None
        plain = jwe.decrypt_compact(row.sealed_token, self._seal, algorithms=[*_SEAL.values()]).plaintext
        return (plain or b"").decode("ascii")

    async def find(self, session: AsyncSession, repository_id: str, *, lock: bool = False) -> RepositoryRow:
        """Raises `RepositoryNotFound`."""
        row = None
        if is_id(repository_id):
            row = await session.get(RepositoryRow, repository_id, with_for_update=lock)
        if row is None:
            raise RepositoryNotFound(f"No repository has the id {repository_id[:64]!r}.")
        return row

    async def _checked(self, new: NewRepository) -> str:
        """The address as it is stored."""
        if len(new.address) > LONGEST_ADDRESS:
            raise RepositoryRefused(f"The address has more than {LONGEST_ADDRESS} characters.")
        _fit("branch", new.branch, BRANCH_PATTERN)
        _fit("folder", new.folder, FOLDER_PATTERN)
        _fit("username", new.username, USERNAME_PATTERN)
        if new.access_token is not None and not re.fullmatch(TOKEN_PATTERN, new.access_token):
            raise FieldInvalid("access_token: must be 1 to 500 printable ASCII characters without spaces.")
        if new.kind == "folder":
            if new.branch or new.access_token is not None:
                raise RepositoryRefused("A folder has neither a branch nor an access token.")
            path = os.path.join(new.address, new.folder) if new.folder else new.address
            await asyncio.to_thread(check_folder, path, self.settings.sync_paths)
            return new.address
        check_git_url(new.address, private=self.settings.sync_private)
        if ".." in new.branch or new.branch.endswith((".", ".lock")):
            raise RepositoryRefused(f"git permits no branch {new.branch[:80]!r}.")
        if await asyncio.to_thread(usable_git) is None:
            raise GitMissing(f"{NEEDED}. An operator can install it on the server. Folders can be synced without it.")
        return new.address

    def _sealed(self, token: str | None) -> str | None:
        return None if token is None else jwe.encrypt_compact(_SEAL, token.encode("ascii"), self._seal)


def check_git_url(url: str, *, private: bool) -> None:
    """Raises `RepositoryRefused`. The name is resolved at each sync."""
    if not private and not re.fullmatch(URL_PATTERN, url):
        raise RepositoryRefused(
            "The address must be https:// with a host name that contains a dot (not a numeric address), optionally "
            ":8443, and a path in printable ASCII, without user name or fragment; ssh is not supported. "
            f"Got {_without_user(url)!r}."
        )
    try:
        check_url(url, private=private)
    except WebhookURLRefused:
        raise RepositoryRefused(f"The address must be an https:// URL in ASCII. Got {_without_user(url)!r}.") from None
    parts = urlsplit(url)
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise RepositoryRefused("The address must have no user name, query and fragment. Send a token as access_token.")


def _without_user(url: str) -> str:
    """For a message: the text in front of an @ may be a password."""
    return re.sub(r"//[^/]*@", "//…@", url)[:80]


def _fit(field: str, text: str, pattern: str) -> None:
    if len(text) > LONGEST_NAME or not re.fullmatch(pattern, text):
        raise FieldInvalid(
            f"{field}: may contain letters, digits and . _ - in parts separated by /, of which none begins with a dot. "
            f"Got {text[:80]!r}."
        )


async def _find_sync(session: AsyncSession, repository_id: str, sync_id: str) -> SyncRow:
    row = await session.get(SyncRow, sync_id) if is_id(sync_id) else None
    if row is None or row.repository_id != repository_id:
        raise _no_sync(sync_id)
    return row


def _no_sync(sync_id: str) -> SyncNotFound:
    return SyncNotFound(f"This repository has no sync with the id {sync_id[:64]!r}.")


def _repository(row: RepositoryRow, registered_by: str) -> Repository:
    return Repository.read_from(row, has_token=row.sealed_token is not None, registered_by=registered_by)


def sync_of(row: SyncRow) -> Sync:
    is_over = row.finished_at is not None
    return Sync.read_from(
        row,
        repository=row.repository_id,
        status="finished" if is_over else "running" if row.until > now() else "interrupted",
        problems=[SyncedProblem.of(each) for each in row.problems],
    )
