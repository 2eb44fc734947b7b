"""Signing in with a name and password or with the printed link, signing up, and signing out."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.providers import Providers
from app.accounts.schemas import Password
from app.accounts.service import Accounts
from app.accounts.web import (
    FromOwnPage,
    check_origin,
    client_address,
    current_user,
    signed_in,
    signed_out,
    user_agent,
)
from app.core.errors import Refused
from app.core.rest.actions import Actions, FormPage, PageOf, Typed
from app.core.rest.body import RequestBody
from app.core.rest.routing import FROM_ANYONE
from app.core.services import Provided
from app.core.web.cookies import SESSION_COOKIE
from app.core.web.next_page import own_page
from app.core.web.templating import render_secret_page

Secret = Annotated[str | None, Query(max_length=200)]
Next = Annotated[str, Query(alias="next", max_length=2000)]


class SignInForm(RequestBody):
    """`next` is the page to which signing in leads."""

    name: str = ""
    password: Password = ""
    next: str = ""


class SignUpForm(SignInForm):
    """`account` is `keep` to use the invitation with the account that is signed in."""

    invitation: str | None = None
    account: str = ""


@dataclass(frozen=True)
class SignInPage(FormPage):
    request: Request
    accounts: Provided[Accounts]
    providers: Provided[Providers]

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        return await self.show(typed["next"], name=typed["name"], refusal=refusal)

    async def show(self, page: str, *, name: str = "", refusal: Refused | None = None) -> HTMLResponse:
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


@dataclass(frozen=True)
class SignUpPage(FormPage):
    request: Request
    providers: Provided[Providers]

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        return await self.show(typed["next"], typed["invitation"] or None, name=typed["name"], refusal=refusal)

    async def show(
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


@dataclass(frozen=True)
class SignOutButton(FormPage):
    """It is on every page of someone who is signed in."""

    request: Request

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        if self.request.cookies.get(SESSION_COOKIE):
            raise refusal
        # The session has ended since the page was loaded, and its form with it.
        return signed_out(self.request)


actions = Actions("accounts", SignInPage)


@actions.pages.get("/sign-in")
async def show_sign_in(
    request: Request,
    accounts: Provided[Accounts],
    form_page: PageOf[SignInPage],
    token: Secret = None,
    page: Next = "",
) -> Response:
    """With a token, use up the link. Without one, show the form."""
    if token:
        return signed_in(request, await accounts.sign_in(token, user_agent(request)))
    return await form_page.show(page)


@actions.form("/sign-in", max_bytes=FROM_ANYONE)
async def sign_in(
    request: Request, from_own_page: FromOwnPage, body: SignInForm, accounts: Provided[Accounts]
) -> Response:
    token = await accounts.sign_in_with_password(body.name, body.password, client_address(request), user_agent(request))
    return signed_in(request, token, own_page(body.next, "/"))


@actions.pages.get("/sign-up")
async def show_sign_up(
    accounts: Provided[Accounts], form_page: PageOf[SignUpPage], invitation: Secret = None, page: Next = ""
) -> Response:
    """The form, or the reason why no account can be created."""
    await accounts.check_sign_up(invitation)
    return await form_page.show(page, invitation)


@actions.form("/sign-up", page=SignUpPage, max_bytes=FROM_ANYONE)
async def sign_up(
    request: Request, from_own_page: FromOwnPage, body: SignUpForm, accounts: Provided[Accounts]
) -> Response:
    user = await current_user(request)
    if body.account == "keep" and user is not None and body.invitation:
        await accounts.accept_invitation(user, body.invitation)
        return RedirectResponse(own_page(body.next, "/courses"), status_code=303)
    token = await accounts.sign_up(
        body.name, body.password, body.invitation, client_address(request), user_agent(request)
    )
    return signed_in(request, token, own_page(body.next, "/"))


async def session_to_end(request: Request) -> str:
    """The token of the browser's session; empty if it has none. Raises `OriginRefused`."""
    token = request.cookies.get(SESSION_COOKIE, "")
    if token:
        check_origin(request)
    return token


@actions.form("/sign-out", page=SignOutButton, max_bytes=FROM_ANYONE)
async def sign_out(
    request: Request, session_token: Annotated[str, Depends(session_to_end)], accounts: Provided[Accounts]
) -> Response:
    if session_token:
        await accounts.sign_out(session_token)
    return signed_out(request)
