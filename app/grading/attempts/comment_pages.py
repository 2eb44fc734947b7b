"""The buttons beside comments on the caller's own attempts."""

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from app.accounts.web import Submitter
from app.core.services import Provided
from app.core.web.forms import read_form
from app.grading.attempts.service import Attempts
from app.grading.comments.service import Comments

router = APIRouter(include_in_schema=False)


@router.post("/attempts/{attempt_id}/comments/{comment_id}/resolve")
async def resolve_comment(
    request: Request,
    attempt_id: str,
    comment_id: str,
    user: Submitter,
    attempts: Provided[Attempts],
    comments: Provided[Comments],
) -> Response:
    form = await read_form(request)
    attempt = await attempts.get(user, attempt_id, placed=False)
    resolved = await comments.resolve(attempt.id, comment_id, is_resolved=form.get("resolved") != "no")
    return RedirectResponse(f"/attempts/{attempt.id}#comment-{resolved.id}", status_code=303)
