"""REST: register repositories, sync them, and the address that their webhooks call."""

from typing import Annotated, Any

from fastapi import Query, Request, Response

from app.accounts.web import Instructor
from app.authoring.repositories.pages import RepositoriesPage
from app.authoring.repositories.schemas import (
    HookedJSON,
    NewRepositoryJSON,
    RepositoryList,
    RepositoryMadeJSON,
    SyncPage,
)
from app.authoring.repositories.service import Repositories, Repository, Sync
from app.authoring.repositories.sync_runner import Syncs
from app.core.rest.actions import Actions
from app.core.rest.body import read_body
from app.core.rest.paging import Cursor
from app.core.rest.problem_json import located_response, problem_responses
from app.core.services import Provided

actions = Actions("repositories")
router = actions.api
# GitHub lists every commit of a push. A larger message is refused, and the next push syncs its content as well.
MAX_HOOK_BYTES = 4 << 20
_HOOK_BODY: dict[str, Any] = {
    "requestBody": {
        "required": False,
        "description": "The message from GitHub or GitLab, unchanged. Only its signature and its `ref` are used.",
        "content": {"application/json": {"schema": {}, "example": {"ref": "refs/heads/main"}}},
    },
    "parameters": [
        {
            "name": "X-Hub-Signature-256",
            "in": "header",
            "schema": {"type": "string"},
            "description": "`sha256=` and the HMAC-SHA256 of the body in hexadecimal, with the secret as the key",
        },
        {
            "name": "X-Gitlab-Token",
            "in": "header",
            "schema": {"type": "string"},
            "description": "The secret itself, as GitLab sends it",
        },
    ],
}


@router.get("/repositories", summary="Where packages are synced from")
async def list_repositories(user: Instructor, repositories: Provided[Repositories]) -> RepositoryList:
    found = await repositories.every()
    return RepositoryList(repositories=found)


@actions.post(
    "/repositories",
    page=RepositoriesPage,
    summary="Register a git repository, or a folder of the server, with problem packages",
    status_code=201,
    responses={**located_response(201, "repository"), **problem_responses(409)},
)
async def add_repository(
    response: Response, user: Instructor, body: NewRepositoryJSON, repositories: Provided[Repositories]
) -> RepositoryMadeJSON:
    repository, secret = await repositories.add(user, body.to_new())
    here = f"/api/v1/repositories/{repository.id}"
    response.headers["Location"] = here
    response.headers["Cache-Control"] = "no-store"
    return RepositoryMadeJSON(**repository.model_dump(), webhook_path=f"{here}/webhook", webhook_secret=secret)


@router.get("/repositories/{repository_id}", summary="One repository")
async def get_repository(user: Instructor, repository_id: str, repositories: Provided[Repositories]) -> Repository:
    return await repositories.get(repository_id)


@actions.delete(
    "/repositories/{repository_id}",
    form="/repositories/{repository_id}/remove",
    then="/repositories",
    summary="Remove a repository; versions that came from it stay",
)
async def remove_repository(user: Instructor, repository_id: str, repositories: Provided[Repositories]) -> None:
    await repositories.remove(user, repository_id)


@actions.post(
    "/repositories/{repository_id}/syncs",
    form="/repositories/{repository_id}/sync",
    then="/repositories/{repository_id}",
    summary="Sync: store each package that changed as a version, without publishing it",
    status_code=202,
    responses=located_response(202, "sync", "Running. Follow it at the address in the Location header"),
)
async def sync_repository(response: Response, user: Instructor, repository_id: str, syncs: Provided[Syncs]) -> Sync:
    sync = await syncs.request(user, repository_id, "person")
    response.headers["Location"] = f"/api/v1/repositories/{sync.repository}/syncs/{sync.id}"
    return sync


@router.get("/repositories/{repository_id}/syncs", summary="The syncs of a repository, newest first")
async def list_syncs(
    user: Instructor,
    repository_id: str,
    repositories: Provided[Repositories],
    limit: Annotated[int, Query(ge=1, le=50)] = 20,
    before: Annotated[str | None, Query(pattern="^[0-9a-f]{32}$", description="`next` of the previous page")] = None,
) -> SyncPage:
    syncs = await repositories.syncs(repository_id, Cursor(limit, before))
    return SyncPage(syncs=syncs, next=syncs.next)


@router.get("/repositories/{repository_id}/syncs/{sync_id}", summary="One sync, with the outcome of each package")
async def get_sync(user: Instructor, repository_id: str, sync_id: str, repositories: Provided[Repositories]) -> Sync:
    return await repositories.get_sync(repository_id, sync_id)


@router.post(
    "/repositories/{repository_id}/webhook",
    summary="For GitHub and GitLab: a push begins a sync",
    status_code=202,
    responses=problem_responses(403, 413),
    openapi_extra=_HOOK_BODY,
)
async def receive_push(
    request: Request, repository_id: str, repositories: Provided[Repositories], syncs: Provided[Syncs]
) -> HookedJSON:
    """No account is needed: the signature, or the token, proves that the sender has the repository's secret."""
    body = await read_body(request, MAX_HOOK_BYTES, "which is too much for a message about a push")
    user, is_of_interest = await repositories.from_hook(repository_id, request.headers, body)
    if not is_of_interest:
        return HookedJSON(sync=None)
    return HookedJSON(sync=(await syncs.request(user, repository_id, "webhook")).id)
