"""REST: who you are, your API tokens, your invitations."""

from typing import Annotated

from fastapi import Depends, Request, Response

from app.accounts.caller import Caller
from app.accounts.schemas import (
    ClassInvitationList,
    CreatedInvitationJSON,
    CreatedTokenJSON,
    InvitationList,
    MeJSON,
    NewClassJSON,
    NewInvitationJSON,
    NewTokenJSON,
    TokenList,
)
from app.accounts.web import Reader, accounts_of, require_caller, require_caller_role, sign_up_link
from app.core.rest.problem_json import problem_responses
from app.core.rest.routing import rest_router

router = rest_router("accounts")
Own = Annotated[Caller, Depends(require_caller("account"))]
Inviter = Annotated[Caller, Depends(require_caller_role("instructor", "account"))]
_REFUSALS_OF_A_BODY = problem_responses(409)


@router.get("/me", summary="The user behind the token or cookie")
async def get_me(user: Reader) -> MeJSON:
    return MeJSON(id=user.id, name=user.name, role=user.role)


@router.get("/tokens", summary="Your API tokens")
async def list_tokens(request: Request, caller: Own) -> TokenList:
    return TokenList(tokens=[view for view in await accounts_of(request).tokens.list(caller.user.id)])


@router.post(
    "/tokens",
    status_code=201,
    summary="Create an API token, with at most your own scopes",
    responses=_REFUSALS_OF_A_BODY,
)
async def create_token(request: Request, response: Response, caller: Own, body: NewTokenJSON) -> CreatedTokenJSON:
    token, view = await accounts_of(request).grants.create_token(caller, body.name, body.scopes, body.expires_in_days)
    response.headers["Cache-Control"] = "no-store"
    return CreatedTokenJSON(**view.model_dump(), token=token)


@router.delete("/tokens/{token_id}", status_code=204, summary="Revoke an API token")
async def revoke_token(request: Request, token_id: str, caller: Own) -> None:
    await accounts_of(request).tokens.revoke(caller.user.id, token_id)


@router.get("/invitations", summary="Your unused invitations")
async def list_invitations(request: Request, caller: Inviter) -> InvitationList:
    views = await accounts_of(request).invitations.list(caller.user.id)
    return InvitationList(invitations=[view for view in views])


@router.post(
    "/invitations",
    status_code=201,
    summary="Create an invitation, for instructors and owners",
    responses=_REFUSALS_OF_A_BODY,
)
async def create_invitation(
    request: Request, response: Response, caller: Inviter, body: NewInvitationJSON
) -> CreatedInvitationJSON:
    token, view = await accounts_of(request).grants.invite(caller, body.role, body.note, body.expires_in_days)
    response.headers["Cache-Control"] = "no-store"
    return CreatedInvitationJSON(**view.model_dump(), url=sign_up_link(request, token))


@router.post(
    "/batch/invitations",
    status_code=201,
    summary="Invite a student for each name, for instructors and owners",
    responses=_REFUSALS_OF_A_BODY,
)
async def invite_class(
    request: Request, response: Response, caller: Inviter, body: NewClassJSON
) -> ClassInvitationList:
    invited = await accounts_of(request).invitations.create_for_class(caller.user, body.notes, body.expires_in_days)
    response.headers["Cache-Control"] = "no-store"
    return ClassInvitationList(
        invitations=[
            CreatedInvitationJSON(**view.model_dump(), url=sign_up_link(request, token)) for token, view in invited
        ]
    )


@router.delete("/invitations/{invitation_id}", status_code=204, summary="Revoke an invitation")
async def revoke_invitation(request: Request, invitation_id: str, caller: Inviter) -> None:
    await accounts_of(request).invitations.revoke(caller.user.id, invitation_id)
