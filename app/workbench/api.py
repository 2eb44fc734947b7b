"""REST: read and save the draft of a problem."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request

from app.accounts.caller import User
from app.accounts.web import require_scope
from app.rest.body import body_of, read_json
from app.rest.problem_json import problem_responses
from app.services import services_of
from app.workbench.schemas import DraftJSON, SaveDraftJSON
from app.workbench.services import WorkbenchServices

router = APIRouter(tags=["attempts"])


@router.get(
    "/problems/{slug}/draft",
    summary="Your draft at a problem",
    response_model=DraftJSON,
    responses=problem_responses(401, 403, 404, 429),
)
async def read_draft(request: Request, slug: str, user: Annotated[User, Depends(require_scope("read"))]) -> DraftJSON:
    return DraftJSON.of(await services_of(request, WorkbenchServices).drafts.get(user, slug))


@router.put(
    "/problems/{slug}/draft",
    summary="Save a draft, based on a revision",
    response_model=DraftJSON,
    responses=problem_responses(400, 401, 403, 404, 409, 413, 415, 422, 429),
    openapi_extra=body_of(SaveDraftJSON),
)
async def save_draft(request: Request, slug: str, user: Annotated[User, Depends(require_scope("submit"))]) -> DraftJSON:
    body = await read_json(request, SaveDraftJSON)
    drafts = services_of(request, WorkbenchServices).drafts
    return DraftJSON.of(await drafts.save(user, slug, body.source, body.revision))
