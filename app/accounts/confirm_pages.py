"""Users prove their identity again, then return to the page that required it."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.caller import Caller
from app.accounts.provider_flow import begin_flow
from app.accounts.provider_pages import WayToProvider
from app.accounts.providers import Providers
from app.accounts.recent_sign_in import require_session
from app.accounts.service import Accounts
from app.accounts.web import Own, client_address
from app.core.errors import Refused
from app.core.rest.actions import PageOf
from app.core.rest.routing import PageRouter
from app.core.services import Provided
from app.core.web.cookies import SESSION_COOKIE
from app.core.web.forms import read_form
from app.core.web.next_page import own_page
from app.core.web.templating import render_secret_page

router = PageRouter("/sign-in/again")


@dataclass(frozen=True, slots=True)
class ConfirmPage:
    accounts: Provided[Accounts]
    providers: Provided[Providers]

    async def show(self, caller: Caller, page: str, refusal: Refused | None = None) -> HTMLResponse:
        require_session(caller)
        linked = {each.issuer for each in await self.accounts.identities.list(caller.user.id)}
        return render_secret_page(
            "accounts/confirm.html",
            refusal=refusal,
            user=caller.user,
            next=own_page(page),
            has_password=await self.accounts.has_password(caller.user),
            providers=[each for each in self.providers.values() if each.issuer in linked],
        )


@router.get("")
async def show_confirm(
    caller: Own,
    confirm_page: PageOf[ConfirmPage],
    page: Annotated[str, Query(alias="next", max_length=2000)] = "",
) -> HTMLResponse:
    return await confirm_page.show(caller, page)


@router.post("")
async def confirm(
    request: Request, caller: Own, accounts: Provided[Accounts], confirm_page: PageOf[ConfirmPage]
) -> Response:
    form = await read_form(request)
    page = form.get("next", "")
    try:
        await accounts.confirm_with_password(caller, form.get("password", ""), client_address(request))
    except Refused as refusal:
        return await confirm_page.show(caller, page, refusal)
    return RedirectResponse(own_page(page), status_code=303)


@router.post("/with/{provider}")
async def confirm_with(request: Request, provider: str, caller: Own, way: PageOf[WayToProvider]) -> Response:
    require_session(caller)
    form = await read_form(request)
    session_token = request.cookies.get(SESSION_COOKIE, "")
    page = own_page(form.get("next", ""))
    return await way.begin(begin_flow("confirm", provider, session_token=session_token, page=page))
