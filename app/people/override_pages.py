"""The form and the button that change the points of an attempt by hand, and change them back."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import RedirectResponse, Response

from app.accounts.caller import User
from app.accounts.web import require_scope
from app.attempts.overrides import Overrides
from app.audit.log import LONGEST_REASON
from app.errors import FieldInvalid, Refused
from app.people.reading import attempt_of
from app.people.review_pages import TypedPoints, review_page
from app.services import services_of
from app.web.forms import read_form

router = APIRouter(prefix="/people/{person_id}/attempts/{attempt_id}/override", include_in_schema=False)
# `attempt_of` says whose, and at which problems.
Grader = Annotated[User, Depends(require_scope("instruct"))]


@router.post("")
async def override_score(request: Request, person_id: str, attempt_id: str, user: Grader) -> Response:
    services = services_of(request)
    person, attempt = await attempt_of(services, user, person_id, attempt_id)
    form = await read_form(request, max_bytes=12 * LONGEST_REASON + 1024)
    score, reason = form.get("score", "").strip(), form.get("reason", "")
    try:
        if not (score.isascii() and score.isdecimal()):
            raise FieldInvalid("score: must be a whole number from 0 to 100.")
        await services[Overrides].override(user, attempt.id, int(score[:9]), reason)
    except Refused as refusal:
        return await review_page(request, person_id, attempt_id, user, points=TypedPoints(score, reason, refusal))
    return RedirectResponse(f"/people/{person.id}/attempts/{attempt.id}#points", status_code=303)


@router.post("/undo")
async def undo_override(request: Request, person_id: str, attempt_id: str, user: Grader) -> Response:
    services = services_of(request)
    person, attempt = await attempt_of(services, user, person_id, attempt_id)
    await read_form(request)
    await services[Overrides].undo(user, attempt.id)
    return RedirectResponse(f"/people/{person.id}/attempts/{attempt.id}#points", status_code=303)
