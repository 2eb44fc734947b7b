"""Puts a past source back into the editor, and shows the drafts that this replaced."""

import asyncio
from dataclasses import dataclass

from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.caller import User
from app.accounts.web import Reader, Submitter
from app.core.errors import DraftConflict
from app.core.rest.actions import Actions, PageOf
from app.core.rest.body import RequestBody
from app.core.services import Provided
from app.core.web.diff import diff_lines
from app.core.web.templating import render_page
from app.grading.attempts.service import Attempts
from app.learning.workbench.drafts import Draft, Drafts
from app.problems.catalogue import Catalogue

actions = Actions("attempts")


class Restoring(RequestBody):
    """`revision` is that of the draft which the user has seen and agreed to replace. None if none was shown."""

    revision: int | None = None


@dataclass(frozen=True, slots=True)
class RestorePage:
    """Saves a past source as the draft. If that would replace a text that was never sent, it shows both and asks first.

    Its constructor is a dependency of FastAPI.
    """

    drafts: Provided[Drafts]
    attempts: Provided[Attempts]
    catalogue: Provided[Catalogue]

    async def restore(self, user: User, slug: str, source: str, action: str, form: Restoring) -> Response:
        """`action` is the address that the form which confirms it is sent to."""
        draft = await self.drafts.get(user, slug)
        unsent = await self._is_unsent(user, draft) and draft.source != source
        if not unsent or form.revision == draft.revision:
            try:
                await self.drafts.restore(user, draft, source, keep=unsent)
                return RedirectResponse(f"/problems/{draft.problem}#workbench", status_code=303)
            except DraftConflict:
                draft = await self.drafts.get(user, slug)
        return render_page(
            "learning/workbench/restore.html",
            status_code=409,
            user=user,
            draft=draft,
            title=self.catalogue.title_of(slug),
            lines=await asyncio.to_thread(diff_lines, draft.source or "", source),
            action=action,
            changed=form.revision is not None,
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


@actions.form("/attempts/{attempt_id}/restore")
async def restore_attempt(
    attempt_id: str,
    user: Submitter,
    body: Restoring,
    attempts: Provided[Attempts],
    page: PageOf[RestorePage],
) -> Response:
    attempt = await attempts.get(user, attempt_id, placed=False)
    return await page.restore(user, attempt.problem, attempt.source, f"/attempts/{attempt.id}/restore", body)


@actions.pages.get("/drafts/replaced")
async def list_replaced(user: Reader, drafts: Provided[Drafts], catalogue: Provided[Catalogue]) -> HTMLResponse:
    replaced = await drafts.list_replaced(user)
    titles = {each.problem: catalogue.title_of(each.problem) for each in replaced}
    return render_page("learning/workbench/replaced_drafts.html", user=user, drafts=replaced, titles=titles)


@actions.form("/drafts/replaced/{draft_id}/restore")
async def restore_draft(
    draft_id: str, user: Submitter, body: Restoring, drafts: Provided[Drafts], page: PageOf[RestorePage]
) -> Response:
    draft = await drafts.find_replaced(user, draft_id)
    return await page.restore(user, draft.problem, draft.source, f"/drafts/replaced/{draft.id}/restore", body)


@actions.form("/drafts/replaced/{draft_id}/discard", then="/drafts/replaced")
async def discard_draft(draft_id: str, user: Submitter, drafts: Provided[Drafts]) -> None:
    await drafts.discard_replaced(user, draft_id)
