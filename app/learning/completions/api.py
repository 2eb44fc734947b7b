"""REST: what you solved in a track, and the link with which anyone may read it."""

from dataclasses import dataclass
from typing import Any

from fastapi import Request
from starlette.responses import Response

from app.accounts.web import Reader, Submitter, site_address
from app.core.rest.actions import Actions, FormPage
from app.core.rest.problem_json import problem_responses
from app.core.services import Provided
from app.core.web.templating import render_secret_page
from app.learning.completions.schemas import CompletionJSON, SharedCompletion
from app.learning.completions.service import Completions

_PAGE = "/tracks/{track}/completion"


@dataclass(frozen=True)
class CompletionPage(FormPage):
    """The page of one track, with what its reader solved."""

    request: Request
    user: Reader
    track: str
    completions: Provided[Completions]
    path = _PAGE

    async def done(self, action: str, result: Any) -> Response:
        if not isinstance(result, SharedCompletion):
            return await super().done(action, result)
        # Only the hash of the link is stored, so there is no redirect.
        verified = await self.completions.verified(self.user, self.track)
        return render_secret_page(
            "learning/completions/completion_share.html", user=self.user, verified=verified, shared=result
        )


actions = Actions("completions", CompletionPage)
router = actions.api


@router.get(
    "/tracks/{track}/completion",
    summary="What you solved in a track, and what it was judged with",
    responses=problem_responses(404),
)
async def get_completion(user: Reader, track: str, completions: Provided[Completions]) -> CompletionJSON:
    verified = await completions.verified(user, track)
    return CompletionJSON.of_verified(verified, await completions.shared_since(user, track))


@actions.post(
    "/tracks/{track}/completion/sharing",
    form=f"{_PAGE}/share",
    summary="Share a completed track by a new link, and sign its badge; an earlier link stops working",
    status_code=201,
    responses=problem_responses(404, 409),
)
async def share_completion(
    request: Request, user: Submitter, track: str, completions: Provided[Completions]
) -> SharedCompletion:
    token = await completions.share(user, track)
    link = f"{site_address(request) or ''}/completed/{token}"
    return SharedCompletion(link=link, badge=f"{link}/badge.jwt")


@actions.delete(
    "/tracks/{track}/completion/sharing",
    form=f"{_PAGE}/unshare",
    summary="Stop sharing a completed track, and revoke its badge",
)
async def unshare_completion(user: Submitter, track: str, completions: Provided[Completions]) -> None:
    await completions.revoke(user, track)
