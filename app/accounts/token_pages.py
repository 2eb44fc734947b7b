"""Your API tokens: their page, and what is done on it and over REST."""

from dataclasses import dataclass
from typing import Any

from fastapi import Response
from starlette.responses import HTMLResponse

from app.accounts.roles import SCOPE_MEANINGS
from app.accounts.schemas import CreatedTokenJSON, NewTokenJSON, TokenList
from app.accounts.service import Accounts
from app.accounts.web import Own
from app.core.errors import Refused
from app.core.rest.actions import Actions, FormPage, PageOf, Typed
from app.core.rest.problem_json import problem_responses
from app.core.services import Provided
from app.core.web.templating import render_secret_page

_HERE = "/account/tokens"
_EMPTY = Typed({"scopes-read": "on", "scopes-submit": "on", "expires_in_days": "90"})


@dataclass(frozen=True)
class TokensPage(FormPage):
    caller: Own
    accounts: Provided[Accounts]
    path = _HERE

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        return await self.show(typed if action == "create_token" else _EMPTY, refusal)

    async def done(self, action: str, result: Any) -> Response:
        # The token can be shown only once, so there is no redirect.
        return await self.show(secret=result.token)

    async def show(
        self, form: Typed = _EMPTY, refusal: Refused | None = None, secret: str | None = None
    ) -> HTMLResponse:
        """`form` is what the form contains, and `secret` a new token."""
        return render_secret_page(
            "accounts/account_tokens.html",
            refusal=refusal,
            user=self.caller.user,
            recent=self.accounts.recent.covers(self.caller),
            tokens=await self.accounts.tokens.list(self.caller.user.id),
            meanings=SCOPE_MEANINGS,
            secret=secret,
            form=form,
        )


actions = Actions("accounts", TokensPage)


@actions.pages.get(_HERE)
async def show_tokens(page: PageOf[TokensPage]) -> HTMLResponse:
    return await page.show()


@actions.api.get("/tokens", summary="Your API tokens")
async def list_tokens(caller: Own, accounts: Provided[Accounts]) -> TokenList:
    return TokenList(tokens=[view for view in await accounts.tokens.list(caller.user.id)])


@actions.post(
    "/tokens",
    form=_HERE,
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


@actions.delete("/tokens/{token_id}", form=f"{_HERE}/{{token_id}}/revoke", then=_HERE, summary="Revoke an API token")
async def revoke_token(token_id: str, caller: Own, accounts: Provided[Accounts]) -> None:
    await accounts.tokens.revoke(caller.user.id, token_id)
