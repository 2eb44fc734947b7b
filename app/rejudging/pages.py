"""Pages for instructors: have one version grade the attempts of others, compare gains with losses, and apply it."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.caller import User
from app.accounts.web import require_role
from app.rejudging.service import Rejudging
from app.rejudging.services import RejudgingServices
from app.services import services_of
from app.web.forms import read_form
from app.web.templating import render_page

router = APIRouter(prefix="/authoring/{slug}", include_in_schema=False)
Instructor = Annotated[User, Depends(require_role("instructor"))]
After = Annotated[str | None, Query(pattern="^[0-9a-f]{32}$")]
_SHOWN = 100


def _rejudging(request: Request) -> Rejudging:
    return services_of(request, RejudgingServices).rejudging


@router.post("/rejudge")
async def begin(request: Request, slug: str, user: Instructor) -> Response:
    form = await read_form(request)
    rejudge = await _rejudging(request).request(slug, form.get("version", ""))
    return RedirectResponse(_address(slug, rejudge.id), status_code=303)


@router.get("/rejudges")
async def list_rejudges(request: Request, slug: str, user: Instructor) -> HTMLResponse:
    rejudges = await _rejudging(request).list(slug, _SHOWN)
    return render_page("rejudges.html", user=user, slug=slug, rejudges=rejudges)


@router.get("/rejudges/{rejudge_id}")
async def show(request: Request, slug: str, rejudge_id: str, user: Instructor, after: After = None) -> HTMLResponse:
    rejudging = _rejudging(request)
    rejudge = await rejudging.get(slug, rejudge_id)
    changes = await rejudging.changes(slug, rejudge_id, _SHOWN + 1, after)
    return render_page(
        "rejudge.html",
        user=user,
        rejudge=rejudge,
        balance=await rejudging.balance(slug, rejudge_id),
        changes=changes[:_SHOWN],
        more=changes[_SHOWN - 1].attempt_id if len(changes) > _SHOWN else None,
    )


@router.post("/rejudges/{rejudge_id}/apply")
async def apply(request: Request, slug: str, rejudge_id: str, user: Instructor) -> Response:
    await read_form(request)
    await _rejudging(request).apply(user, slug, rejudge_id)
    return RedirectResponse(_address(slug, rejudge_id), status_code=303)


@router.post("/rejudges/{rejudge_id}/cancel")
async def cancel(request: Request, slug: str, rejudge_id: str, user: Instructor) -> Response:
    await read_form(request)
    await _rejudging(request).cancel(slug, rejudge_id)
    return RedirectResponse(_address(slug, rejudge_id), status_code=303)


def _address(slug: str, rejudge_id: str) -> str:
    return f"/authoring/{slug}/rejudges/{rejudge_id}"
