"""Signing in with a name and password or with the printed link, signing up, and signing out."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.providers import Providers
from app.accounts.service import Accounts
from app.accounts.web import check_origin, client_address, current_user, signed_in, signed_out, user_agent
from app.core.errors import Refused
from app.core.rest.actions import PageOf
from app.core.rest.routing import PageRouter
from app.core.services import Provided
from app.core.web.cookies import SESSION_COOKIE
from app.core.web.forms import read_form
from app.core.web.next_page import own_page
from app.core.web.templating import render_secret_page

router = PageRouter()
Secret = Annotated[str | None, Query(max_length=200)]
Next = Annotated[str, Query(alias="next", max_length=2000)]


@dataclass(frozen=True, slots=True)
class SignInPages:
    """The pages with the forms for signing in and signing up."""

    request: Request
    accounts: Provided[Accounts]
    providers: Provided[Providers]

    async def show_sign_in(self, page: str, *, name: str = "", refusal: Refused | None = None) -> HTMLResponse:
        return render_secret_page(
            "accounts/sign_in.html",
            refusal=refusal,
            user=await current_user(self.request),
            name=name,
            next=own_page(page, "/"),
            sign_up=self.accounts.sign_up_by,
            providers=self.providers.values(),
            # A browser on the machine that serves the page belongs to someone who can read the terminal.
            is_own_server=self.request.url.hostname in {"localhost", "127.0.0.1", "::1"},
        )

    async def show_sign_up(
        self, page: str, invitation: str | None, *, name: str = "", refusal: Refused | None = None
    ) -> HTMLResponse:
        return render_secret_page(
            "accounts/sign_up.html",
            refusal=refusal,
            user=await current_user(self.request),
            name=name,
            next=own_page(page, "/"),
            invitation=invitation,
            providers=self.providers.values(),
        )


@router.get("/sign-in")
async def show_sign_in(
    request: Request,
    accounts: Provided[Accounts],
    form_page: PageOf[SignInPages],
    token: Secret = None,
    page: Next = "",
) -> Response:
    """With a token, use up the link. Without one, show the form."""
    if token:
        return signed_in(request, await accounts.sign_in(token, user_agent(request)))
    return await form_page.show_sign_in(page)


@router.post("/sign-in")
async def sign_in(request: Request, accounts: Provided[Accounts], form_page: PageOf[SignInPages]) -> Response:
    check_origin(request)
    form = await read_form(request)
    name, page = form.get("name", ""), form.get("next", "")
    try:
        token = await accounts.sign_in_with_password(
            name, form.get("password", ""), client_address(request), user_agent(request)
        )
    except Refused as refusal:
        return await form_page.show_sign_in(page, name=name, refusal=refusal)
    return signed_in(request, token, own_page(page, "/"))


@router.get("/sign-up")
async def show_sign_up(
    accounts: Provided[Accounts], form_page: PageOf[SignInPages], invitation: Secret = None, page: Next = ""
) -> Response:
    """The form, or the reason why no account can be created."""
    await accounts.check_sign_up(invitation)
    return await form_page.show_sign_up(page, invitation)


@router.post("/sign-up")
async def sign_up(request: Request, accounts: Provided[Accounts], form_page: PageOf[SignInPages]) -> Response:
    check_origin(request)
    form = await read_form(request)
    name, page, invitation = form.get("name", ""), form.get("next", ""), form.get("invitation") or None
    user = await current_user(request)
    try:
        if form.get("account") == "keep" and user is not None and invitation:
            await accounts.accept_invitation(user, invitation)
            return RedirectResponse(own_page(page, "/courses"), status_code=303)
        token = await accounts.sign_up(
            name, form.get("password", ""), invitation, client_address(request), user_agent(request)
        )
    except Refused as refusal:
        return await form_page.show_sign_up(page, invitation, name=name, refusal=refusal)
    return signed_in(request, token, own_page(page, "/"))


@router.post("/sign-out")
async def sign_out(request: Request, accounts: Provided[Accounts]) -> Response:
    cookie = request.cookies.get(SESSION_COOKIE)
    if cookie:
        check_origin(request)
        await read_form(request)
        await accounts.sign_out(cookie)
    return signed_out(request)
