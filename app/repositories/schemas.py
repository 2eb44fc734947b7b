"""REST bodies and responses for repositories and their syncs."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.repositories.service import (
    BRANCH_PATTERN,
    FOLDER_PATTERN,
    LONGEST_ADDRESS,
    LONGEST_NAME,
    TOKEN_PATTERN,
    USERNAME,
    USERNAME_PATTERN,
    Cause,
    Kind,
    NewRepository,
    Repository,
    Sync,
)

_REPOSITORY: dict[str, Any] = {
    "id": "0b8f6e1d9b7a4f5e8d3c2b1a0f9e8d7c",
    "kind": "git",
    "address": "https://git.example.org/course/problems.git",
    "branch": "main",
    "folder": "",
    "has_access_token": True,
    "registered_by": "grace",
    "created_at": "2026-01-05T09:30:00.000000Z",
}
_SYNC: dict[str, Any] = {
    "id": "5e8d3c2b1a0f9e8d7c0b8f6e1d9b7a4f",
    "repository": _REPOSITORY["id"],
    "cause": "webhook",
    "status": "finished",
    "commit": "9f2c1e7d5b3a4c6e8d0f1a2b3c4d5e6f7a8b9c0d",
    "fault": None,
    "problems": [
        {
            "folder": "row_sums",
            "problem": "row_sums",
            "outcome": "refused",
            "version": None,
            "errors": [
                {"rule": "points", "file": "problem.toml", "line": 14, "message": "points of the checks add up to 90"}
            ],
            "more_errors": 0,
        }
    ],
    "created_at": "2026-01-05T09:30:00.000000Z",
    "finished_at": "2026-01-05T09:30:02.000000Z",
}


class NewRepositoryJSON(BaseModel):
    """A git repository, by its https:// address, or a folder of the server that its operator permits.

    An empty `branch` is the default branch. `folder` is a folder in it; empty for all of it. `access_token` and
    `username` are for a private git repository; the token is stored encrypted and never shown.
    """

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        json_schema_extra={
            "examples": [{"kind": "git", "address": "https://git.example.org/course/problems.git", "branch": "main"}]
        },
    )

    kind: Kind
    address: Annotated[str, Field(min_length=1, max_length=LONGEST_ADDRESS)]
    branch: Annotated[str, Field(max_length=LONGEST_NAME, pattern=BRANCH_PATTERN)] = ""
    folder: Annotated[str, Field(max_length=LONGEST_NAME, pattern=FOLDER_PATTERN)] = ""
    username: Annotated[str, Field(pattern=USERNAME_PATTERN)] = USERNAME
    access_token: Annotated[str, Field(pattern=TOKEN_PATTERN)] | None = None

    def to_new(self) -> NewRepository:
        return NewRepository(**self.model_dump())


class RepositoryJSON(BaseModel):
    """Where packages are synced from."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_REPOSITORY]})

    id: str
    kind: Kind
    address: str
    branch: str
    folder: str
    has_access_token: bool
    registered_by: str
    created_at: datetime

    @classmethod
    def of(cls, repository: Repository) -> "RepositoryJSON":
        return cls(
            id=repository.id,
            kind=repository.kind,
            address=repository.address,
            branch=repository.branch,
            folder=repository.folder,
            has_access_token=repository.has_token,
            registered_by=repository.registered_by,
            created_at=repository.created_at,
        )


class RepositoryMadeJSON(RepositoryJSON):
    """`webhook_path` with the address of this service in front is the address of the webhook. `webhook_secret` is shown
    only once.
    """

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                _REPOSITORY
                | {
                    "webhook_path": f"/api/v1/repositories/{_REPOSITORY['id']}/webhook",
                    "webhook_secret": "5d0f7a647d0b4a869c6e0a2c3f0f6a017d0b4a86",
                }
            ]
        },
    )

    webhook_path: str
    webhook_secret: str


class RepositoryList(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"repositories": [_REPOSITORY]}]})

    repositories: list[RepositoryJSON]


class SyncErrorJSON(BaseModel):
    """A rule of docs/checking.md that the package breaks."""

    model_config = ConfigDict(extra="forbid")

    rule: str
    file: str
    line: int | None
    message: str


class SyncedProblemJSON(BaseModel):
    """The outcome of one package. `problem` is null if its manifest cannot be read, and `version` if it was refused.

    `unchanged` means that this version was already stored. At most 20 errors are listed; `more_errors` counts the rest.
    """

    model_config = ConfigDict(extra="forbid")

    folder: str
    problem: str | None
    outcome: Literal["new", "updated", "unchanged", "refused"]
    version: str | None
    errors: list[SyncErrorJSON]
    more_errors: int


class SyncJSON(BaseModel):
    """A sync. `fault` says why nothing could be read. `commit` is null for a folder, and until it has finished.

    `status` is `interrupted` if the server stopped while it was running.
    """

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_SYNC]})

    id: str
    repository: str
    cause: Cause
    status: Literal["running", "finished", "interrupted"]
    commit: str | None
    fault: str | None
    problems: list[SyncedProblemJSON]
    created_at: datetime
    finished_at: datetime | None

    @classmethod
    def of(cls, sync: Sync) -> "SyncJSON":
        return cls(**(asdict(sync) | {"problems": [SyncedProblemJSON(**each) for each in sync.problems]}))


class SyncPage(BaseModel):
    """Newest first. For the next page, send `next` as `before`. It is null on the last page."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"syncs": [_SYNC], "next": None}]})

    syncs: list[SyncJSON]
    next: str | None


class HookedJSON(BaseModel):
    """`sync` is null if the message was authentic, but is not a push to the branch."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"sync": _SYNC["id"]}]})

    sync: str | None
