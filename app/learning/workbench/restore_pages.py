"""Puts a past source back into the editor, and shows the drafts that this replaced."""

import asyncio

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.caller import User
from app.accounts.web import Reader, Submitter
from app.core.errors import DraftConflict, ProblemNotFound
from app.core.services import Provided, Services, services_of
from app.core.web.diff import diff_lines
from app.core.web.forms import read_form
from app.core.web.templating import render_page
from app.grading.attempts.service import Attempts
from app.learning.workbench.drafts import Draft, Drafts, ReplacedDraft
from app.problems.catalogue import Catalogue

router = APIRouter(include_in_schema=False)


@router.post("/attempts/{attempt_id}/restore")
async def restore_attempt(request: Request, attempt_id: str, user: Submitter, attempts: Provided[Attempts]) -> Response:
    form = await read_form(request)
    attempt = await attempts.get(user, attempt_id, placed=False)
    action = f"/attempts/{attempt.id}/restore"
    return await restore_source(request, user, attempt.problem, attempt.source, action, form.get("revision"))


@router.get("/drafts/replaced")
async def list_replaced(request: Request, user: Reader) -> HTMLResponse:
    services = services_of(request)
    drafts = await services[Drafts].list_replaced(user)
    titles = {slug: _title(services, slug) for slug in {each.problem for each in drafts}}
    return render_page("replaced_drafts.html", user=user, drafts=drafts, titles=titles)


@router.post("/drafts/replaced/{draft_id}/restore")
async def restore_draft(request: Request, draft_id: str, user: Submitter, drafts: Provided[Drafts]) -> Response:
    form = await read_form(request)
    draft: ReplacedDraft = await drafts.find_replaced(user, draft_id)
    action = f"/drafts/replaced/{draft.id}/restore"
    return await restore_source(request, user, draft.problem, draft.source, action, form.get("revision"))


@router.post("/drafts/replaced/{draft_id}/discard")
async def discard_draft(request: Request, draft_id: str, user: Submitter, drafts: Provided[Drafts]) -> Response:
    await read_form(request)
    await drafts.discard_replaced(user, draft_id)
    return RedirectResponse("/drafts/replaced", status_code=303)


async def restore_source(
    request: Request, user: User, slug: str, source: str, action: str, confirmed: str | None
) -> Response:
    """Save `source` as the draft. If that would replace a text that was never sent, show both and ask first.

    `confirmed` is the revision of the draft that the user has seen and agreed to replace.
    """
    services = services_of(request)
    draft = await services[Drafts].get(user, slug)
    unsent = await _is_unsent(services, user, draft) and draft.source != source
    if not unsent or confirmed == str(draft.revision):
        try:
            await services[Drafts].restore(user, draft, source, keep=unsent)
            return RedirectResponse(f"/problems/{draft.problem}#workbench", status_code=303)
        except DraftConflict:
            draft = await services[Drafts].get(user, slug)
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


async def _is_unsent(services: Services, user: User, draft: Draft) -> bool:
    """Whether only the draft has its text."""
    if draft.source is None or not draft.source.strip():
        return False
    if draft.source == services[Catalogue].get(draft.problem).starter:
        return False
    if await services[Attempts].has_sent(user, draft.problem, draft.source):
        return False
    return all(each.source != draft.source for each in await services[Drafts].list_replaced(user))


def _title(services: Services, slug: str) -> str:
    try:
        return services[Catalogue].get(slug).manifest.title
    except ProblemNotFound:  # withdrawn since
        return slug
