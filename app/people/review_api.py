"""REST: what instructors and assistants add to an attempt of somebody else: comments on its lines."""

from app.accounts.web import Grader
from app.comments.schemas import CommentJSON, CommentList, NewCommentJSON
from app.comments.service import Comments
from app.people.reading import PersonsAttempt
from app.rest.problem_json import problem_responses
from app.rest.routing import rest_router
from app.services import Provided

router = rest_router("people", "/people/{person_id}/attempts/{attempt_id}/comments")


@router.get("", summary="The comments on the attempt of a person")
async def list_comments_of_person(found: PersonsAttempt, comments: Provided[Comments]) -> CommentList:
    _, attempt = found
    return CommentList(comments=[CommentJSON.of(each) for each in await comments.of_attempt(attempt.id)])


@router.post(
    "",
    status_code=201,
    summary="Comment on a line of a person's attempt",
    responses=problem_responses(409),
)
async def add_comment(
    user: Grader, found: PersonsAttempt, body: NewCommentJSON, comments: Provided[Comments]
) -> CommentJSON:
    person, attempt = found
    return CommentJSON.of(await comments.add(user, person.id, attempt.id, attempt.source, body.line, body.text))


@router.delete("/{comment_id}", status_code=204, summary="Remove a comment, as its author or as an owner")
async def remove_comment(comment_id: str, user: Grader, found: PersonsAttempt, comments: Provided[Comments]) -> None:
    person, attempt = found
    await comments.remove(user, person.id, attempt.id, comment_id)
