"""Users prove their identity again, then return to the page that required it."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.caller import Caller
from app.accounts.provider_flow import begin_flow
from app.accounts.provider_pages import go_to_provider
from app.accounts.providers import Providers
from app.accounts.recent_sign_in import require_session
from app.accounts.web import accounts_of, client_address, require_caller
from app.core.errors import Refused
from app.core.services import services_of
from app.core.web.cookies import SESSION_COOKIE
from app.core.web.forms import read_form
from app.core.web.next_page import own_page
from app.core.web.templating import render_secret_page

router = APIRouter(prefix="/sign-in/again", include_in_schema=False)
Own = Annotated[Caller, Depends(require_caller("account"))]


@router.get("")
async def show_confirm(
    request: Request, caller: Own, page: Annotated[str, Query(alias="next", max_length=2000)] = ""
) -> HTMLResponse:
    return await _confirm_page(request, caller, page)


@router.post("")
async def confirm(request: Request, caller: Own) -> Response:
    form = await read_form(request)
    page = form.get("next", "")
    try:
        await accounts_of(request).confirm_with_password(caller, form.get("password", ""), client_address(request))
    except Refused as refusal:
        return await _confirm_page(request, caller, page, refusal)
    return RedirectResponse(own_page(page), status_code=303)


@router.post("/with/{provider}")
async def confirm_with(request: Request, provider: str, caller: Own) -> Response:
    require_session(caller)
    form = await read_form(request)
    session_token = request.cookies.get(SESSION_COOKIE, "")
    page = own_page(form.get("next", ""))
    return await go_to_provider(request, begin_flow("confirm", provider, session_token=session_token, page=page))


async def _confirm_page(request: Request, caller: Caller, page: str, refusal: Refused | None = None) -> HTMLResponse:
    require_session(caller)
    accounts = accounts_of(request)
    linked = {each.issuer for each in await accounts.identities.list(caller.user.id)}
    return render_secret_page(
        "confirm.html",
        refusal=refusal,
        user=caller.user,
        next=own_page(page),
        has_password=await accounts.has_password(caller.user),
        providers=[each for each in services_of(request)[Providers].values() if each.issuer in linked],
    )
