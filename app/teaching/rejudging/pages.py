"""Pages for instructors: have one version grade attempts of others, compare gains with losses, and apply it."""

from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.caller import User
from app.accounts.web import Instructor
from app.core.database import Database
from app.core.errors import Refused
from app.core.rest.actions import PageOf
from app.core.rest.paging import Cursor
from app.core.rest.routing import PageRouter
from app.core.services import Provided
from app.core.web.forms import read_form
from app.core.web.templating import render_page
from app.core.web.time_zone import chosen_zone
from app.problems.catalogue import Catalogue
from app.teaching.courses.service import Courses
from app.teaching.rejudging.selection_form import Form, name_parts, scopes_of
from app.teaching.rejudging.service import Rejudging

router = PageRouter("/authoring/{slug}")
After = Annotated[str | None, Query(pattern="^[0-9a-f]{32}$")]
_SHOWN = 100
_MOST_VERSIONS = 50
_LARGEST_FORM = 64 * 1024


@dataclass(frozen=True, slots=True)
class ChoicePage:
    """The form that chooses attempts, and how many match."""

    rejudging: Provided[Rejudging]
    database: Provided[Database]
    courses: Provided[Courses]

    async def show(self, slug: str, user: User, form: Form, refusal: Refused | None = None) -> HTMLResponse:
        everything = await self.rejudging.count(slug, form.version)
        count = None
        try:
            if refusal is None:
                chosen = await form.selection(self.database)
                await self.courses.require_taught(user, chosen.course, chosen.assignment)
                count = await self.rejudging.count(slug, form.version, chosen)
        except Refused as found:
            refusal = found
        return render_page(
            "teaching/rejudging/rejudge_new.html",
            status_code=refusal.status if refusal else 200,
            user=user,
            slug=slug,
            form=form,
            refusal=refusal,
            count=count,
            versions=everything.versions[:_MOST_VERSIONS],
            scopes=await scopes_of(self.database, user, slug),
            zone=chosen_zone() or "UTC",
        )


@router.get("/rejudge")
async def choose(
    request: Request, slug: str, user: Instructor, catalogue: Provided[Catalogue], page: PageOf[ChoicePage]
) -> HTMLResponse:
    """The form that chooses attempts, and how many match. The choice is in the address.

    If it names no version, the published one grades.
    """
    form = Form.of_query(request.url.query)
    version = form.version or catalogue.version_of(slug) or ""
    return await page.show(slug, user, replace(form, version=version))


@router.post("/rejudge")
async def begin(
    request: Request,
    slug: str,
    user: Instructor,
    database: Provided[Database],
    rejudging: Provided[Rejudging],
    courses: Provided[Courses],
    page: PageOf[ChoicePage],
) -> Response:
    form = Form.of_fields(await read_form(request, max_bytes=_LARGEST_FORM))
    try:
        chosen = await form.selection(database)
        await courses.require_taught(user, chosen.course, chosen.assignment)
        rejudge = await rejudging.request(slug, form.version, chosen)
    except Refused as refusal:
        if form.is_plain:
            raise
        return await page.show(slug, user, form, refusal)
    return RedirectResponse(_address(slug, rejudge.id), status_code=303)


@router.get("/rejudges")
async def list_rejudges(slug: str, user: Instructor, rejudging: Provided[Rejudging]) -> HTMLResponse:
    rejudges = await rejudging.list(slug, Cursor(_SHOWN))
    return render_page("teaching/rejudging/rejudges.html", user=user, slug=slug, rejudges=rejudges)


@router.get("/rejudges/{rejudge_id}")
async def show(
    slug: str,
    rejudge_id: str,
    user: Instructor,
    rejudging: Provided[Rejudging],
    database: Provided[Database],
    after: After = None,
    losses: bool = False,
) -> HTMLResponse:
    """All changes, or only `losses`."""
    rejudge = await rejudging.get(slug, rejudge_id)
    changes = await rejudging.changes(slug, rejudge_id, Cursor(_SHOWN, after), only_losses=losses)
    return render_page(
        "teaching/rejudging/rejudge.html",
        user=user,
        rejudge=rejudge,
        balance=await rejudging.balance(slug, rejudge_id),
        selection=await name_parts(database, user, rejudge.selection),
        losses=losses,
        changes=changes,
        more=changes.next,
    )


@router.post("/rejudges/{rejudge_id}/apply")
async def apply(
    request: Request, slug: str, rejudge_id: str, user: Instructor, rejudging: Provided[Rejudging]
) -> Response:
    form = await read_form(request)
    await rejudging.apply(user, slug, rejudge_id, never_lower="never_lower" in form)
    return RedirectResponse(_address(slug, rejudge_id), status_code=303)


def _address(slug: str, rejudge_id: str) -> str:
    return f"/authoring/{slug}/rejudges/{rejudge_id}"
