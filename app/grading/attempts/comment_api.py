"""Comments on the caller's own attempts: over REST, and the buttons beside them."""

from typing import Annotated

from fastapi import Depends

from app.accounts.web import Reader, Submitter
from app.core.rest.actions import Actions
from app.core.services import Provided
from app.grading.attempts.service import Attempts
from app.grading.attempts.views import AttemptJSON
from app.grading.comments.schemas import CommentList, ResolvedJSON
from app.grading.comments.service import Comment, Comments

actions = Actions("attempts")
router = actions.api


async def own_attempt(attempt_id: str, user: Submitter, attempts: Provided[Attempts]) -> AttemptJSON:
    return await attempts.get(user, attempt_id, placed=False)


@router.get("/attempts/{attempt_id}/comments", summary="What instructors and assistants wrote on lines of your attempt")
async def list_comments(
    attempt_id: str,
    user: Reader,
    attempts: Provided[Attempts],
    comments: Provided[Comments],
) -> CommentList:
    attempt = await attempts.get(user, attempt_id, placed=False)
    return CommentList(comments=await comments.of_attempt(attempt.id))


@actions.put(
    "/attempts/{attempt_id}/comments/{comment_id}",
    form="/attempts/{attempt_id}/comments/{comment_id}/resolve",
    then="/attempts/{attempt_id}#comment-{comment_id}",
    summary="Mark a comment on your attempt as resolved, or open it again",
)
async def resolve_comment(
    comment_id: str,
    attempt: Annotated[AttemptJSON, Depends(own_attempt)],
    body: ResolvedJSON,
    comments: Provided[Comments],
) -> Comment:
    return await comments.resolve(attempt.id, comment_id, is_resolved=body.resolved)
