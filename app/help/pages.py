"""Pages that explain: the `type` of every problem+json answer points to `/help/errors`, a rejected verdict to
`/help/reasons`."""

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from app.accounts.web import current_user
from app.errors import Refused
from app.web.reasons import REASONS
from app.web.templating import render_page

router = APIRouter(include_in_schema=False)


@router.get("/help/errors")
async def explain_errors(request: Request) -> HTMLResponse:
    return render_page("errors.html", user=await current_user(request), errors=every_refusal())


@router.get("/help/reasons")
async def explain_reasons(request: Request) -> HTMLResponse:
    return render_page("reasons.html", user=await current_user(request), reasons=REASONS)


def every_refusal() -> list[type[Refused]]:
    """Each kind of refusal that has a slug of its own, by status and slug."""
    found: dict[str, type[Refused]] = {}
    waiting = [Refused]
    while waiting:
        refusal = waiting.pop()
        waiting += refusal.__subclasses__()
        if "slug" in vars(refusal) and refusal is not Refused:
            found[refusal.slug] = refusal
    return sorted(found.values(), key=lambda refusal: (refusal.status, refusal.slug))
