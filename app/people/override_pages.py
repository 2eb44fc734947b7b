"""The form and the button that change the points of an attempt by hand, and change them back."""

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from app.accounts.web import Grader
from app.attempts.overrides import Overrides
from app.audit.log import LONGEST_REASON
from app.errors import FieldInvalid, Refused
from app.people.reading import PersonsAttempt
from app.people.review_pages import TypedPoints, review_page
from app.services import Provided
from app.web.forms import read_form

router = APIRouter(prefix="/people/{person_id}/attempts/{attempt_id}/override", include_in_schema=False)


@router.post("")
async def override_score(
    request: Request, user: Grader, found: PersonsAttempt, overrides: Provided[Overrides]
) -> Response:
    person, attempt = found
    form = await read_form(request, max_bytes=12 * LONGEST_REASON + 1024)
    score, reason = form.get("score", "").strip(), form.get("reason", "")
    try:
        if not (score.isascii() and score.isdecimal()):
            raise FieldInvalid("score: must be a whole number from 0 to 100.")
        await overrides.override(user, attempt.id, int(score[:9]), reason)
    except Refused as refusal:
        return await review_page(request, found, user, points=TypedPoints(score, reason, refusal))
    return RedirectResponse(f"/people/{person.id}/attempts/{attempt.id}#points", status_code=303)


@router.post("/undo")
async def undo_override(
    request: Request, user: Grader, found: PersonsAttempt, overrides: Provided[Overrides]
) -> Response:
    person, attempt = found
    await read_form(request)
    await overrides.undo(user, attempt.id)
    return RedirectResponse(f"/people/{person.id}/attempts/{attempt.id}#points", status_code=303)
