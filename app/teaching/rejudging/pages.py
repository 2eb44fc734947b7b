"""Pages for instructors: have one version grade attempts of others, compare gains with losses, and apply it."""

from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import Query, Request
from starlette.responses import HTMLResponse, Response

from app.accounts.web import Instructor
from app.core.database import Database
from app.core.errors import Refused
from app.core.rest.actions import Actions, FormPage, PageOf, Typed
from app.core.rest.body import RequestBody
from app.core.rest.paging import Cursor
from app.core.rest.routing import MaxBytes
from app.core.services import Provided
from app.core.web.templating import render_page
from app.core.web.time_zone import chosen_zone
from app.problems.catalogue import Catalogue
from app.teaching.courses.service import Courses
from app.teaching.rejudging.selection_form import Form, name_parts, scopes_of
from app.teaching.rejudging.service import Rejudge, Rejudging

After = Annotated[str | None, Query(pattern="^[0-9a-f]{32}$")]
_SHOWN = 100
_MOST_VERSIONS = 50
_LARGEST_FORM = 64 * 1024


class ApplyForm(RequestBody):
    """If `never_lower`, attempts that would lose points or the status `accepted` keep their verdict."""

    never_lower: bool = False


@dataclass(frozen=True)
class ChoicePage(FormPage):
    """The form that chooses attempts, and how many match."""

    slug: str
    user: Instructor
    rejudging: Provided[Rejudging]
    database: Provided[Database]
    courses: Provided[Courses]

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        form = Form.of_fields(typed)
        if form.is_plain:
            raise refusal
        return await self.show(form, refusal)

    async def show(self, form: Form, refusal: Refused | None = None) -> HTMLResponse:
        slug, user = self.slug, self.user
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
            user=user,
            slug=slug,
            form=form,
            refusal=refusal,
            count=count,
            versions=everything.versions[:_MOST_VERSIONS],
            scopes=await scopes_of(self.database, user, slug),
            zone=chosen_zone() or "UTC",
        )


actions = Actions("authoring", ChoicePage, "/authoring/{slug}")


@actions.pages.get("/rejudge")
async def choose(request: Request, slug: str, catalogue: Provided[Catalogue], page: PageOf[ChoicePage]) -> HTMLResponse:
    """The form that chooses attempts, and how many match. The choice is in the address.

    If it names no version, the published one grades.
    """
    form = Form.of_query(request.url.query)
    version = form.version or catalogue.version_of(slug) or ""
    return await page.show(replace(form, version=version))


@actions.form("/rejudge", then="/authoring/{slug}/rejudges/{result.id}", max_bytes=MaxBytes(_LARGEST_FORM))
async def begin(
    typed: Typed,
    slug: str,
    user: Instructor,
    database: Provided[Database],
    rejudging: Provided[Rejudging],
    courses: Provided[Courses],
) -> Rejudge:
    form = Form.of_fields(typed)
    chosen = await form.selection(database)
    await courses.require_taught(user, chosen.course, chosen.assignment)
    return await rejudging.request(slug, form.version, chosen)


@actions.pages.get("/rejudges")
async def list_rejudges(slug: str, user: Instructor, rejudging: Provided[Rejudging]) -> HTMLResponse:
    rejudges = await rejudging.list(slug, Cursor(_SHOWN))
    return render_page("teaching/rejudging/rejudges.html", user=user, slug=slug, rejudges=rejudges)


@actions.pages.get("/rejudges/{rejudge_id}")
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


@actions.form("/rejudges/{rejudge_id}/apply", then="/authoring/{slug}/rejudges/{rejudge_id}", page=FormPage)
async def apply(slug: str, rejudge_id: str, user: Instructor, body: ApplyForm, rejudging: Provided[Rejudging]) -> None:
    await rejudging.apply(user, slug, rejudge_id, never_lower=body.never_lower)
