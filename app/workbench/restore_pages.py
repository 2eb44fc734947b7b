"""Puts a past source back into the editor, and shows the drafts that this replaced."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.caller import User
from app.accounts.web import require_scope
from app.errors import DraftConflict, ProblemNotFound
from app.services import services_of
from app.web.diff import diff_lines
from app.web.forms import read_form
from app.web.templating import render_page
from app.workbench.drafts import Draft, ReplacedDraft
from app.workbench.services import WorkbenchServices

router = APIRouter(include_in_schema=False)
Reader = Annotated[User, Depends(require_scope("read"))]
Submitter = Annotated[User, Depends(require_scope("submit"))]


@router.post("/attempts/{attempt_id}/restore")
async def restore_attempt(request: Request, attempt_id: str, user: Submitter) -> Response:
    form = await read_form(request)
    attempt = await services_of(request, WorkbenchServices).attempts.get(user, attempt_id, placed=False)
    action = f"/attempts/{attempt.id}/restore"
    return await restore_source(request, user, attempt.problem, attempt.source, action, form.get("revision"))


@router.get("/drafts/replaced")
async def list_replaced(request: Request, user: Reader) -> HTMLResponse:
    services = services_of(request, WorkbenchServices)
    drafts = await services.drafts.list_replaced(user)
    titles = {slug: _title(services, slug) for slug in {each.problem for each in drafts}}
    return render_page("replaced_drafts.html", user=user, drafts=drafts, titles=titles)


@router.post("/drafts/replaced/{draft_id}/restore")
async def restore_draft(request: Request, draft_id: str, user: Submitter) -> Response:
    form = await read_form(request)
    draft: ReplacedDraft = await services_of(request, WorkbenchServices).drafts.find_replaced(user, draft_id)
    action = f"/drafts/replaced/{draft.id}/restore"
    return await restore_source(request, user, draft.problem, draft.source, action, form.get("revision"))


@router.post("/drafts/replaced/{draft_id}/discard")
async def discard_draft(request: Request, draft_id: str, user: Submitter) -> Response:
    await read_form(request)
    await services_of(request, WorkbenchServices).drafts.discard_replaced(user, draft_id)
    return RedirectResponse("/drafts/replaced", status_code=303)


async def restore_source(
    request: Request, user: User, slug: str, source: str, action: str, confirmed: str | None
) -> Response:
    """Save `source` as the draft. If that would replace a text that was never sent, show both and ask first.

    `confirmed` is the revision of the draft that the user has seen and agreed to replace.
    """
    services = services_of(request, WorkbenchServices)
    draft = await services.drafts.get(user, slug)
    unsent = await _is_unsent(services, user, draft) and draft.source != source
    if not unsent or confirmed == str(draft.revision):
        try:
            await services.drafts.restore(user, draft, source, keep=unsent)
            return RedirectResponse(f"/problems/{draft.problem}#workbench", status_code=303)
        except DraftConflict:
            draft = await services.drafts.get(user, slug)
    changed = confirmed is not None
    return render_page(
        "restore.html",
        status_code=409,
        user=user,
        draft=draft,
        title=_title(services, slug),
        lines=await asyncio.to_thread(diff_lines, draft.source or "", source),
        action=action,
        changed=changed,
    )


async def _is_unsent(services: WorkbenchServices, user: User, draft: Draft) -> bool:
    """Whether nothing but the draft has its text."""
    if draft.source is None or not draft.source.strip():
        return False
    if draft.source == services.catalogue.get(draft.problem).starter:
        return False
    if await services.attempts.has_sent(user, draft.problem, draft.source):
        return False
    return all(each.source != draft.source for each in await services.drafts.list_replaced(user))


def _title(services: WorkbenchServices, slug: str) -> str:
    try:
        return services.catalogue.get(slug).manifest.title
    except ProblemNotFound:  # withdrawn since
        return slug
