"""REST: comments on the caller's own attempts."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request

from app.accounts.caller import User
from app.accounts.web import require_scope
from app.attempts.services import AttemptServices
from app.comments.schemas import CommentJSON, CommentList, ResolvedJSON
from app.rest.body import body_of, read_json
from app.rest.problem_json import problem_responses
from app.services import services_of

router = APIRouter(tags=["attempts"])


@router.get(
    "/attempts/{attempt_id}/comments",
    summary="What instructors and assistants wrote on lines of your attempt",
    responses=problem_responses(401, 403, 404),
)
async def list_comments(
    request: Request, attempt_id: str, user: Annotated[User, Depends(require_scope("read"))]
) -> CommentList:
    services = services_of(request, AttemptServices)
    attempt = await services.attempts.get(user, attempt_id, placed=False)
    return CommentList(comments=[CommentJSON.of(each) for each in await services.comments.of_attempt(attempt.id)])


@router.put(
    "/attempts/{attempt_id}/comments/{comment_id}",
    summary="Mark a comment on your attempt as resolved, or open it again",
    responses=problem_responses(400, 401, 403, 404, 413, 415, 422),
    openapi_extra=body_of(ResolvedJSON),
)
async def resolve_comment(
    request: Request, attempt_id: str, comment_id: str, user: Annotated[User, Depends(require_scope("submit"))]
) -> CommentJSON:
    services = services_of(request, AttemptServices)
    attempt = await services.attempts.get(user, attempt_id, placed=False)
    body = await read_json(request, ResolvedJSON)
    return CommentJSON.of(await services.comments.resolve(attempt.id, comment_id, is_resolved=body.resolved))
