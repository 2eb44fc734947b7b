"""REST bodies and responses for repositories and their syncs."""

from typing import Annotated

from pydantic import Field

from app.authoring.repositories.service import (
    BRANCH_PATTERN,
    FOLDER_PATTERN,
    LONGEST_ADDRESS,
    LONGEST_NAME,
    TOKEN_PATTERN,
    USERNAME,
    USERNAME_PATTERN,
    Kind,
    NewRepository,
    Repository,
    Sync,
)
from app.core.rest.actions import FromForm
from app.core.rest.body import RequestBody
from app.core.view import View


def _without_outer_slashes(path: str) -> str:
    return path.strip().strip("/")


class NewRepositoryJSON(RequestBody):
    """A git repository, by its https:// address, or a folder of the server that its operator permits.

    An empty `branch` is the default branch. `folder` is a folder in it; empty for all of it. `access_token` and
    `username` are for a private git repository; the token is stored encrypted and never shown.
    """

    kind: Kind
    address: Annotated[str, Field(min_length=1, max_length=LONGEST_ADDRESS)]
    # The patterns are only described here. service.py enforces them and says what is wrong.
    branch: str = Field(default="", max_length=LONGEST_NAME, json_schema_extra={"pattern": BRANCH_PATTERN})
    folder: Annotated[str, FromForm(_without_outer_slashes)] = Field(
        default="", max_length=LONGEST_NAME, json_schema_extra={"pattern": FOLDER_PATTERN}
    )
    username: str = Field(default=USERNAME, json_schema_extra={"pattern": USERNAME_PATTERN})
    access_token: Annotated[str, Field(json_schema_extra={"pattern": TOKEN_PATTERN})] | None = None

    def to_new(self) -> NewRepository:
        return NewRepository(**self.model_dump())


class RepositoryMadeJSON(Repository):
    """`webhook_path` with the address of this service in front is the address of the webhook. `webhook_secret` is shown
    only once.
    """

    webhook_path: str
    webhook_secret: str


class RepositoryList(View):
    repositories: list[Repository]


class SyncPage(View):
    """Newest first. For the next page, send `next` as `before`. It is null on the last page."""

    syncs: list[Sync]
    next: str | None


class HookedJSON(View):
    """`sync` is null if the message was authentic, but is not a push to the branch."""

    sync: str | None
