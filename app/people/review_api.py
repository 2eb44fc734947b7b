"""REST: what instructors and assistants add to an attempt of somebody else: comments on its lines."""

from typing import Annotated

from fastapi import Depends, Request, Response

from app.accounts.caller import User
from app.accounts.web import require_scope
from app.comments.schemas import CommentJSON, CommentList, NewCommentJSON
from app.comments.service import Comments
from app.people.reading import attempt_of
from app.rest.problem_json import problem_responses
from app.rest.routing import rest_router
from app.services import services_of

router = rest_router("people", "/people/{person_id}/attempts/{attempt_id}/comments")
# `attempt_of` says whose, and at which problems.
Grader = Annotated[User, Depends(require_scope("instruct"))]


@router.get("", summary="The comments on the attempt of a person")
async def list_comments_of_person(request: Request, person_id: str, attempt_id: str, user: Grader) -> CommentList:
    services = services_of(request)
    _, attempt = await attempt_of(services, user, person_id, attempt_id)
    return CommentList(comments=[CommentJSON.of(each) for each in await services[Comments].of_attempt(attempt.id)])


@router.post(
    "",
    status_code=201,
    summary="Comment on a line of a person's attempt",
    responses=problem_responses(409),
)
async def add_comment(
    request: Request, person_id: str, attempt_id: str, user: Grader, body: NewCommentJSON
) -> CommentJSON:
    services = services_of(request)
    person, attempt = await attempt_of(services, user, person_id, attempt_id)
    return CommentJSON.of(
        await services[Comments].add(user, person.id, attempt.id, attempt.source, body.line, body.text)
    )


@router.delete("/{comment_id}", status_code=204, summary="Remove a comment, as its author or as an owner")
async def remove_comment(request: Request, person_id: str, attempt_id: str, comment_id: str, user: Grader) -> Response:
    services = services_of(request)
    person, attempt = await attempt_of(services, user, person_id, attempt_id)
    await services[Comments].remove(user, person.id, attempt.id, comment_id)
    return Response(status_code=204)
