"""REST: what instructors and assistants add to an attempt of somebody else: comments on its lines."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from app.accounts.caller import User
from app.accounts.web import require_scope
from app.comments.schemas import CommentJSON, CommentList, NewCommentJSON
from app.people.reading import attempt_of
from app.people.services import PeopleServices
from app.rest.body import body_of, read_json
from app.rest.problem_json import problem_responses
from app.services import services_of

router = APIRouter(prefix="/people/{person_id}/attempts/{attempt_id}/comments", tags=["people"])
# `attempt_of` says whose, and at which problems.
Grader = Annotated[User, Depends(require_scope("instruct"))]


@router.get("", summary="The comments on the attempt of a person", responses=problem_responses(401, 403, 404))
async def list_comments_of_person(request: Request, person_id: str, attempt_id: str, user: Grader) -> CommentList:
    services = services_of(request, PeopleServices)
    _, attempt = await attempt_of(services, user, person_id, attempt_id)
    return CommentList(comments=[CommentJSON.of(each) for each in await services.comments.of_attempt(attempt.id)])


@router.post(
    "",
    status_code=201,
    summary="Comment on a line of a person's attempt",
    responses=problem_responses(400, 401, 403, 404, 409, 413, 415, 422),
    openapi_extra=body_of(NewCommentJSON),
)
async def add_comment(request: Request, person_id: str, attempt_id: str, user: Grader) -> CommentJSON:
    services = services_of(request, PeopleServices)
    person, attempt = await attempt_of(services, user, person_id, attempt_id)
    body = await read_json(request, NewCommentJSON)
    return CommentJSON.of(
        await services.comments.add(user, person.id, attempt.id, attempt.source, body.line, body.text)
    )


@router.delete(
    "/{comment_id}",
    status_code=204,
    summary="Remove a comment, as its author or as an owner",
    responses=problem_responses(401, 403, 404),
)
async def remove_comment(request: Request, person_id: str, attempt_id: str, comment_id: str, user: Grader) -> Response:
    services = services_of(request, PeopleServices)
    person, attempt = await attempt_of(services, user, person_id, attempt_id)
    await services.comments.remove(user, person.id, attempt.id, comment_id)
    return Response(status_code=204)
