"""Users prove their identity again, then return to the page that required it."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.caller import Caller
from app.accounts.provider_flow import begin_flow
from app.accounts.provider_pages import WayToProvider
from app.accounts.providers import Providers
from app.accounts.recent_sign_in import require_session
from app.accounts.schemas import Password
from app.accounts.service import Accounts
from app.accounts.web import Own, client_address
from app.core.errors import Refused
from app.core.rest.actions import Actions, FormPage, PageOf, Typed
from app.core.rest.body import RequestBody
from app.core.services import Provided
from app.core.web.cookies import SESSION_COOKIE
from app.core.web.next_page import own_page
from app.core.web.templating import render_secret_page


async def own_session(caller: Own) -> Caller:
    require_session(caller)
    return caller


# The caller, at a browser. A program with a token has no identity to prove.
AtBrowser = Annotated[Caller, Depends(own_session)]


class ProviderForm(RequestBody):
    """`next` is the page to which confirming leads."""

    next: str = ""


class ConfirmForm(ProviderForm):
    password: Password = ""


@dataclass(frozen=True)
class ConfirmPage(FormPage):
    caller: AtBrowser
    accounts: Provided[Accounts]
    providers: Provided[Providers]

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        return await self.show(typed["next"], refusal)

    async def show(self, page: str, refusal: Refused | None = None) -> HTMLResponse:
        user = self.caller.user
        linked = {each.issuer for each in await self.accounts.identities.list(user.id)}
        return render_secret_page(
            "accounts/confirm.html",
            refusal=refusal,
            user=user,
            next=own_page(page),
            has_password=await self.accounts.has_password(user),
            providers=[each for each in self.providers.values() if each.issuer in linked],
        )


actions = Actions("accounts", ConfirmPage, "/sign-in/again")


@actions.pages.get("")
async def show_confirm(
    confirm_page: PageOf[ConfirmPage], page: Annotated[str, Query(alias="next", max_length=2000)] = ""
) -> HTMLResponse:
    return await confirm_page.show(page)


@actions.form("")
async def confirm(request: Request, caller: AtBrowser, body: ConfirmForm, accounts: Provided[Accounts]) -> Response:
    await accounts.confirm_with_password(caller, body.password, client_address(request))
    return RedirectResponse(own_page(body.next), status_code=303)


@actions.form("/with/{provider}")
async def confirm_with(
    request: Request, provider: str, caller: AtBrowser, body: ProviderForm, way: PageOf[WayToProvider]
) -> Response:
    session_token = request.cookies.get(SESSION_COOKIE, "")
    return await way.begin(begin_flow("confirm", provider, session_token=session_token, page=own_page(body.next)))
