"""Puts a past source back into the editor, and shows the drafts that this replaced."""

import asyncio
from dataclasses import dataclass

from fastapi import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.caller import User
from app.accounts.web import Reader, Submitter
from app.core.errors import DraftConflict
from app.core.rest.actions import PageOf
from app.core.rest.routing import PageRouter
from app.core.services import Provided
from app.core.web.diff import diff_lines
from app.core.web.forms import read_form
from app.core.web.templating import render_page
from app.grading.attempts.service import Attempts
from app.learning.workbench.drafts import Draft, Drafts
from app.problems.catalogue import Catalogue

router = PageRouter()


@dataclass(frozen=True, slots=True)
class RestorePage:
    """Saves a past source as the draft. If that would replace a text that was never sent, it shows both and asks first.

    Its constructor is a dependency of FastAPI.
    """

    drafts: Provided[Drafts]
    attempts: Provided[Attempts]
    catalogue: Provided[Catalogue]

    async def restore(self, user: User, slug: str, source: str, action: str, confirmed: str | None) -> Response:
        """`confirmed` is the revision of the draft that the user has seen and agreed to replace."""
        draft = await self.drafts.get(user, slug)
        unsent = await self._is_unsent(user, draft) and draft.source != source
        if not unsent or confirmed == str(draft.revision):
            try:
                await self.drafts.restore(user, draft, source, keep=unsent)
                return RedirectResponse(f"/problems/{draft.problem}#workbench", status_code=303)
            except DraftConflict:
                draft = await self.drafts.get(user, slug)
        return render_page(
            "restore.html",
            status_code=409,
            user=user,
            draft=draft,
            title=self.catalogue.title_of(slug),
            lines=await asyncio.to_thread(diff_lines, draft.source or "", source),
            action=action,
            changed=confirmed is not None,
        )

    async def _is_unsent(self, user: User, draft: Draft) -> bool:
        """Whether only the draft has its text."""
        if draft.source is None or not draft.source.strip():
            return False
        if draft.source == self.catalogue.get(draft.problem).starter:
            return False
        if await self.attempts.has_sent(user, draft.problem, draft.source):
            return False
        return all(each.source != draft.source for each in await self.drafts.list_replaced(user))


@router.post("/attempts/{attempt_id}/restore")
async def restore_attempt(
    request: Request,
    attempt_id: str,
    user: Submitter,
    attempts: Provided[Attempts],
    page: PageOf[RestorePage],
) -> Response:
    form = await read_form(request)
    attempt = await attempts.get(user, attempt_id, placed=False)
    action = f"/attempts/{attempt.id}/restore"
    return await page.restore(user, attempt.problem, attempt.source, action, form.get("revision"))


@router.get("/drafts/replaced")
async def list_replaced(user: Reader, drafts: Provided[Drafts], catalogue: Provided[Catalogue]) -> HTMLResponse:
    replaced = await drafts.list_replaced(user)
    titles = {each.problem: catalogue.title_of(each.problem) for each in replaced}
    return render_page("replaced_drafts.html", user=user, drafts=replaced, titles=titles)


@router.post("/drafts/replaced/{draft_id}/restore")
async def restore_draft(
    request: Request, draft_id: str, user: Submitter, drafts: Provided[Drafts], page: PageOf[RestorePage]
) -> Response:
    form = await read_form(request)
    draft = await drafts.find_replaced(user, draft_id)
    action = f"/drafts/replaced/{draft.id}/restore"
    return await page.restore(user, draft.problem, draft.source, action, form.get("revision"))


@router.post("/drafts/replaced/{draft_id}/discard")
async def discard_draft(request: Request, draft_id: str, user: Submitter, drafts: Provided[Drafts]) -> Response:
    await read_form(request)
    await drafts.discard_replaced(user, draft_id)
    return RedirectResponse("/drafts/replaced", status_code=303)
