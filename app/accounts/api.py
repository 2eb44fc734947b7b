"""REST: who you are, and your API tokens."""

from fastapi import Response

from app.accounts.schemas import CreatedTokenJSON, MeJSON, NewTokenJSON, TokenList
from app.accounts.service import Accounts
from app.accounts.web import Own, Reader
from app.core.rest.actions import Actions
from app.core.rest.problem_json import problem_responses
from app.core.services import Provided

actions = Actions("accounts")
router = actions.api


@router.get("/me", summary="The user behind the token or cookie")
async def get_me(user: Reader) -> MeJSON:
    return MeJSON.of(user)


@router.get("/tokens", summary="Your API tokens")
async def list_tokens(caller: Own, accounts: Provided[Accounts]) -> TokenList:
    return TokenList(tokens=[view for view in await accounts.tokens.list(caller.user.id)])


@router.post(
    "/tokens",
    status_code=201,
    summary="Create an API token, with at most your own scopes",
    responses=problem_responses(409),
)
async def create_token(
    response: Response, caller: Own, body: NewTokenJSON, accounts: Provided[Accounts]
) -> CreatedTokenJSON:
    token, view = await accounts.grants.create_token(caller, body.name, body.scopes, body.expires_in_days)
    response.headers["Cache-Control"] = "no-store"
    return CreatedTokenJSON(**view.model_dump(), token=token)


@actions.delete(
    "/tokens/{token_id}",
    form="/account/tokens/{token_id}/revoke",
    then="/account/tokens",
    summary="Revoke an API token",
)
async def revoke_token(token_id: str, caller: Own, accounts: Provided[Accounts]) -> None:
    await accounts.tokens.revoke(caller.user.id, token_id)
