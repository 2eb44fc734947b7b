"""REST: register repositories, sync them, and the address that their webhooks call."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response

from app.accounts.caller import User
from app.accounts.web import require_role
from app.repositories.schemas import (
    HookedJSON,
    NewRepositoryJSON,
    RepositoryJSON,
    RepositoryList,
    RepositoryMadeJSON,
    SyncJSON,
    SyncPage,
)
from app.repositories.services import RepositoryServices
from app.rest.body import body_of, read_body, read_json
from app.rest.problem_json import problem_responses
from app.services import services_of

router = APIRouter(tags=["repositories"])
Instructor = Annotated[User, Depends(require_role("instructor"))]
# GitHub lists every commit of a push. A larger message is refused, and the next push syncs its content as well.
MAX_HOOK_BYTES = 4 << 20
_HOOK_BODY: dict[str, Any] = {
    "requestBody": {
        "required": False,
        "description": "The message of GitHub or GitLab, as it is. Only its signature and its `ref` are used.",
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


def services(request: Request) -> RepositoryServices:
    return services_of(request, RepositoryServices)


@router.get("/repositories", summary="Where packages are synced from", responses=problem_responses(401, 403))
async def list_repositories(request: Request, user: Instructor) -> RepositoryList:
    found = await services(request).repositories.every()
    return RepositoryList(repositories=[RepositoryJSON.of(each) for each in found])


@router.post(
    "/repositories",
    summary="Register a git repository, or a folder of the server, with problem packages",
    status_code=201,
    responses={
        201: {"headers": {"Location": {"schema": {"type": "string"}, "description": "Address of the repository"}}},
        **problem_responses(400, 401, 403, 409, 413, 415, 422, 503),
    },
    openapi_extra=body_of(NewRepositoryJSON),
)
async def add_repository(request: Request, response: Response, user: Instructor) -> RepositoryMadeJSON:
    body = await read_json(request, NewRepositoryJSON)
    repository, secret = await services(request).repositories.add(user, body.to_new())
    here = f"/api/v1/repositories/{repository.id}"
    response.headers["Location"] = here
    response.headers["Cache-Control"] = "no-store"
    return RepositoryMadeJSON(
        **RepositoryJSON.of(repository).model_dump(), webhook_path=f"{here}/webhook", webhook_secret=secret
    )


@router.get("/repositories/{repository_id}", summary="One repository", responses=problem_responses(401, 403, 404))
async def get_repository(request: Request, user: Instructor, repository_id: str) -> RepositoryJSON:
    return RepositoryJSON.of(await services(request).repositories.get(repository_id))


@router.delete(
    "/repositories/{repository_id}",
    summary="Forget a repository; the versions that came from it stay",
    status_code=204,
    responses=problem_responses(401, 403, 404),
)
async def remove_repository(request: Request, user: Instructor, repository_id: str) -> None:
    await services(request).repositories.remove(user, repository_id)


@router.post(
    "/repositories/{repository_id}/syncs",
    summary="Sync: store each package that changed as a version, without publishing it",
    status_code=202,
    responses={
        202: {
            "description": "Running. Follow it at the address in the Location header",
            "headers": {"Location": {"schema": {"type": "string"}, "description": "Address of the sync"}},
        },
        **problem_responses(401, 403, 404),
    },
)
async def sync_repository(request: Request, response: Response, user: Instructor, repository_id: str) -> SyncJSON:
    sync = await services(request).syncs.request(user, repository_id, "person")
    response.headers["Location"] = f"/api/v1/repositories/{sync.repository}/syncs/{sync.id}"
    return SyncJSON.of(sync)


@router.get(
    "/repositories/{repository_id}/syncs",
    summary="The syncs of a repository, newest first",
    responses=problem_responses(401, 403, 404, 422),
)
async def list_syncs(
    request: Request,
    user: Instructor,
    repository_id: str,
    limit: Annotated[int, Query(ge=1, le=50)] = 20,
    before: Annotated[str | None, Query(pattern="^[0-9a-f]{32}$", description="`next` of the previous page")] = None,
) -> SyncPage:
    syncs = await services(request).repositories.syncs(repository_id, limit + 1, before)
    return SyncPage(
        syncs=[SyncJSON.of(each) for each in syncs[:limit]],
        next=syncs[limit - 1].id if len(syncs) > limit else None,
    )


@router.get(
    "/repositories/{repository_id}/syncs/{sync_id}",
    summary="One sync, with the outcome of each package",
    responses=problem_responses(401, 403, 404),
)
async def get_sync(request: Request, user: Instructor, repository_id: str, sync_id: str) -> SyncJSON:
    return SyncJSON.of(await services(request).repositories.get_sync(repository_id, sync_id))


@router.post(
    "/repositories/{repository_id}/webhook",
    summary="For GitHub and GitLab: a push begins a sync",
    status_code=202,
    responses=problem_responses(403, 404, 413),
    openapi_extra=_HOOK_BODY,
)
async def receive_push(request: Request, repository_id: str) -> HookedJSON:
    """No account is needed: the signature, or the token, proves that the sender has the repository's secret."""
    found = services(request)
    body = await read_body(request, MAX_HOOK_BYTES, "which is too much for a message about a push")
    user, is_of_interest = await found.repositories.from_hook(repository_id, request.headers, body)
    if not is_of_interest:
        return HookedJSON(sync=None)
    return HookedJSON(sync=(await found.syncs.request(user, repository_id, "webhook")).id)
