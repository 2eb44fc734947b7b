"""Your invitations: their page, and what is done on it and over REST."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request, Response
from starlette.responses import HTMLResponse

from app.accounts.caller import Caller
from app.accounts.invitations import MOST_AT_ONCE
from app.accounts.roles import ROLES, is_at_least
from app.accounts.schemas import (
    ClassInvitationList,
    CreatedInvitationJSON,
    InvitationList,
    NewClassJSON,
    NewInvitationJSON,
)
from app.accounts.service import Accounts
from app.accounts.web import require_caller_role, sign_up_link
from app.core.errors import Refused
from app.core.rest.actions import Actions, PageOf, Typed, TypedPage
from app.core.rest.problem_json import problem_responses
from app.core.services import Provided
from app.core.web.templating import render_secret_page

Inviter = Annotated[Caller, Depends(require_caller_role("instructor", "account"))]
_HERE = "/account/invitations"
_REFUSALS = problem_responses(409)


@dataclass(frozen=True)
class InvitationsPage(TypedPage):
    """The invitations that nobody has used, and forms for new ones."""

    caller: Inviter
    accounts: Provided[Accounts]
    path = _HERE

    async def done(self, action: str, result: Any) -> Response:
        # The links can be shown only once, so there is no redirect.
        if isinstance(result, ClassInvitationList):
            return await self.show(links=[(each.note, each.url) for each in result.invitations])
        return await self.show(link=result.url)

    async def show(
        self,
        form: dict[str, str] | None = None,
        refusal: Refused | None = None,
        link: str | None = None,
        links: Sequence[tuple[str, str]] = (),
    ) -> HTMLResponse:
        """`link` is that of a new invitation, and `links` are those of a class."""
        accounts, user = self.accounts, self.caller.user
        return render_secret_page(
            "accounts/account_invitations.html",
            refusal=refusal,
            user=user,
            recent=accounts.recent.covers(self.caller),
            invitations=await accounts.invitations.list(user.id),
            roles=[role for role in ROLES if is_at_least(user.role, role)],
            closed=accounts.sign_up_by == "closed",
            link=link,
            links=links,
            form=form or Typed(),
            most_at_once=MOST_AT_ONCE,
        )


actions = Actions("accounts", InvitationsPage)


@actions.pages.get(_HERE)
async def show_invitations(page: PageOf[InvitationsPage]) -> HTMLResponse:
    return await page.show()


@actions.api.get("/invitations", summary="Your unused invitations")
async def list_invitations(caller: Inviter, accounts: Provided[Accounts]) -> InvitationList:
    views = await accounts.invitations.list(caller.user.id)
    return InvitationList(invitations=[view for view in views])


@actions.post(
    "/invitations",
    form=_HERE,
    status_code=201,
    summary="Create an invitation, for instructors and owners",
    responses=_REFUSALS,
)
async def create_invitation(
    request: Request, response: Response, caller: Inviter, body: NewInvitationJSON, accounts: Provided[Accounts]
) -> CreatedInvitationJSON:
    token, view = await accounts.grants.invite(caller, body.role, body.note, body.expires_in_days)
    response.headers["Cache-Control"] = "no-store"
    return CreatedInvitationJSON(**view.model_dump(), url=sign_up_link(request, token))


@actions.post(
    "/batch/invitations",
    form=f"{_HERE}/class",
    status_code=201,
    summary="Invite a student for each name, for instructors and owners",
    responses=_REFUSALS,
)
async def invite_class(
    request: Request, response: Response, caller: Inviter, body: NewClassJSON, accounts: Provided[Accounts]
) -> ClassInvitationList:
    invited = await accounts.invitations.create_for_class(caller.user, body.notes, body.expires_in_days)
    response.headers["Cache-Control"] = "no-store"
    return ClassInvitationList(
        invitations=[
            CreatedInvitationJSON(**view.model_dump(), url=sign_up_link(request, token)) for token, view in invited
        ]
    )


@actions.delete(
    "/invitations/{invitation_id}",
    form=f"{_HERE}/{{invitation_id}}/revoke",
    then=_HERE,
    summary="Revoke an invitation",
)
async def revoke_invitation(invitation_id: str, caller: Inviter, accounts: Provided[Accounts]) -> None:
    await accounts.invitations.revoke(caller.user.id, invitation_id)
