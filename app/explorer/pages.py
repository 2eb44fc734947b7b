"""The pages of the Explorer: the form, and what was found."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.caller import User
from app.accounts.web import allow_scope, current_user, require_scope
from app.attempts.source_colours import colour_lines
from app.errors import NotSignedIn, ProblemNotFound, Refused
from app.explorer.errors import NothingToExplore
from app.explorer.service import MAX_KEPT
from app.explorer.services import ExplorerServices
from app.explorer.view import arrange_explored
from app.services import services_of
from app.web.form_token import FIELD, check_form_token
from app.web.forms import read_form, read_unchecked_form
from app.web.templating import render_page
from app.workbench.restore_pages import restore_source
from grader.package.package import Package

router = APIRouter(include_in_schema=False)
_SHOWN = 20
MaybeUser = Annotated[User | None, Depends(current_user)]
Submitter = Annotated[User, Depends(require_scope("submit"))]
_submitter = allow_scope("submit")


@router.get("/explore")
async def show_form(
    request: Request,
    user: MaybeUser,
    problem: Annotated[str | None, Query(max_length=100)] = None,
    attempt: Annotated[str | None, Query(max_length=100)] = None,
    exploration: Annotated[str | None, Query(max_length=100)] = None,
    before: Annotated[str | None, Query(max_length=100)] = None,
) -> HTMLResponse:
    """The source is that of an attempt or of an exploration, or else the draft or the starter of the problem."""
    services = services_of(request, ExplorerServices)
    if exploration is not None:
        found = await services.explorations.get(user, exploration)
        problem, source, against = found.summary.problem, found.source, found.against or ""
    elif attempt is not None:
        if user is None:
            raise NotSignedIn("Sign in to explore one of your attempts.")
        sent = await services.attempts.get(user, attempt, placed=False)
        problem, source, against = sent.problem, sent.source, ""
    else:
        source = against = ""
    package = _package(services, problem)
    if package is not None and not source:
        draft = await services.drafts.get(user, package.slug) if user else None
        source = (draft.source if draft else None) or package.starter
    return await _form(services, user, package, source, against, before=before)


@router.post("/explore")
async def explore(request: Request) -> Response:
    """A refused source returns with the page, so that nothing is lost."""
    services = services_of(request, ExplorerServices)
    # Percent-encoding turns one byte into three, and newlines are sent as two bytes. The rest is for the names.
    form = await read_unchecked_form(request, max_bytes=12 * services.settings.max_source_bytes + 4096)
    source, against, slug = form.get("source", ""), form.get("against", ""), form.get("problem", "")
    user = await _submitter(request)
    try:
        check_form_token(request, form.get(FIELD, ""))
        if user is None:
            raise NotSignedIn("Nothing was explored; your code is below. Sign in in another tab, then try again.")
        found = await services.explorations.request(user, slug, source, against if against.strip() else None)
    except Refused as refusal:
        named = None if isinstance(refusal, ProblemNotFound | NothingToExplore) else slug
        package = _package(services, named)
        return await _form(services, user, package, source, against, refusal=refusal)
    return RedirectResponse(f"/explore/{found.summary.id}", status_code=303)


@router.get("/explore/{exploration_id}")
async def show_exploration(request: Request, user: MaybeUser, exploration_id: str) -> HTMLResponse:
    services = services_of(request, ExplorerServices)
    found = await services.explorations.get(user, exploration_id)
    response = render_page(
        "exploration.html",
        user=user,
        exploration=found,
        title=_titles(services).get(found.summary.problem, found.summary.problem),
        is_served=found.summary.problem in _titles(services),
        view=arrange_explored(found.result) if found.result else None,
        lines=await colour_lines(found.source),
        other_lines=await colour_lines(found.against) if found.against is not None else [],
    )
    # The owner shares it with a link, and not with search engines.
    response.headers["X-Robots-Tag"] = "noindex"
    return response


@router.post("/explore/{exploration_id}/share")
async def share_exploration(request: Request, user: Submitter, exploration_id: str) -> Response:
    form = await read_form(request)
    explorations = services_of(request, ExplorerServices).explorations
    await explorations.share(user, exploration_id, shared=form.get("shared") != "no")
    return RedirectResponse(f"/explore/{exploration_id}", status_code=303)


@router.post("/explore/{exploration_id}/restore")
async def restore_exploration(request: Request, user: Submitter, exploration_id: str) -> Response:
    """Put the source into the editor of its problem."""
    form = await read_form(request)
    found = await services_of(request, ExplorerServices).explorations.get(user, exploration_id)
    action = f"/explore/{exploration_id}/restore"
    return await restore_source(request, user, found.summary.problem, found.source, action, form.get("revision"))


@router.post("/explore/{exploration_id}/remove")
async def remove_exploration(request: Request, user: Submitter, exploration_id: str) -> Response:
    await read_form(request)
    await services_of(request, ExplorerServices).explorations.remove(user, exploration_id)
    return RedirectResponse("/explore", status_code=303)


async def _form(
    services: ExplorerServices,
    user: User | None,
    package: Package | None,
    source: str,
    against: str,
    *,
    before: str | None = None,
    refusal: Refused | None = None,
) -> HTMLResponse:
    page = await services.explorations.list(user, _SHOWN + 1, before) if user else []
    return render_page(
        "explore.html",
        status_code=refusal.status if refusal else 200,
        user=user,
        problems=[each for each in services.catalogue.all() if each.manifest.mode == "program"],
        problem=package,
        source=source,
        against=against,
        refusal=refusal,
        explorations=page[:_SHOWN],
        older=page[_SHOWN - 1].id if len(page) > _SHOWN else None,
        titles=_titles(services),
        most=MAX_KEPT,
    )


def _package(services: ExplorerServices, slug: str | None) -> Package | None:
    """The problem that was named, or else the first of mode program; None if there is none.

    Raises:
      ProblemNotFound, NothingToExplore: the named one is missing, or of another mode.
    """
    if slug:
        return services.explorations.package(slug)
    return next((each for each in services.catalogue.all() if each.manifest.mode == "program"), None)


def _titles(services: ExplorerServices) -> dict[str, str]:
    return {each.slug: each.manifest.title for each in services.catalogue.all()}
