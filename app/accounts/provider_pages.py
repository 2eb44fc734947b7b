"""Signing in with a provider: the button, the way there, and the return. Also adding a provider to an account."""

import re
from dataclasses import dataclass
from typing import Annotated

from fastapi import Query, Request
from starlette.responses import RedirectResponse, Response

from app.accounts.account_pages import AccountPage
from app.accounts.errors import InvitationInvalid, SignInCancelled
from app.accounts.provider_flow import FLOW_COOKIE, FLOW_LIFE_S, Flow, begin_flow, read_flow
from app.accounts.providers import Provider, Providers
from app.accounts.service import Accounts
from app.accounts.web import (
    FromOwnPage,
    Own,
    client_address,
    current_caller,
    signed_in,
    site_address,
    user_agent,
)
from app.core.errors import NotSignedIn, PathNotFound
from app.core.rest.actions import Actions, FormPage, PageOf
from app.core.rest.body import RequestBody
from app.core.rest.routing import FROM_ANYONE
from app.core.services import Provided
from app.core.web.cookies import SESSION_COOKIE, delete_cookie, set_cookie
from app.core.web.next_page import own_page
from app.core.web.templating import render_secret_page

# The cookie contains it, between dots.
_INVITATION = re.compile(r"[A-Za-z0-9_-]{1,200}")
Answer = Annotated[str, Query(max_length=4096)]


@dataclass(frozen=True, slots=True)
class WayToProvider:
    """Leads a browser to a sign-in provider."""

    request: Request
    providers: Provided[Providers]

    def provider(self, key: str) -> Provider:
        if key not in self.providers:
            raise PathNotFound(f"This service has no sign-in provider {key[:40]!r}.")
        return self.providers[key]

    def return_to(self, key: str) -> str:
        """The address to which the provider sends the browser back."""
        # There is always an address: without one, providers.py refuses to set up a provider.
        return f"{site_address(self.request)}/sign-in/with/{key}/return"

    async def begin(self, flow: Flow) -> Response:
        """A page that continues by itself. Not a redirect: `form-action 'self'` stops a form from leading elsewhere."""
        provider = self.provider(flow.provider)
        address = await provider.address(flow, self.return_to(flow.provider))
        caller = await current_caller(self.request)
        user = caller.user if caller else None
        page = render_secret_page("accounts/leave.html", user=user, address=address, label=provider.label)
        page.headers["Refresh"] = f"0; url={address}"
        set_cookie(self.request, page, FLOW_COOKIE, flow.cookie, FLOW_LIFE_S)
        return page


class SignInWithForm(RequestBody):
    """`next` is the page to which signing in leads."""

    invitation: str | None = None
    next: str = ""


actions = Actions("accounts", AccountPage)


@actions.form("/sign-in/with/{provider}", page=FormPage, max_bytes=FROM_ANYONE)
async def sign_in_with(
    provider: str, from_own_page: FromOwnPage, body: SignInWithForm, way: PageOf[WayToProvider]
) -> Response:
    invitation = body.invitation
    if invitation is not None and not _INVITATION.fullmatch(invitation):
        raise InvitationInvalid("This is not an invitation. Open the complete link that you received.")
    return await way.begin(begin_flow("sign-in", provider, invitation=invitation, page=own_page(body.next, "/")))


@actions.form("/account/identities/add/{provider}")
async def add_identity(
    request: Request, provider: str, caller: Own, accounts: Provided[Accounts], way: PageOf[WayToProvider]
) -> Response:
    accounts.recent.require(caller)
    return await way.begin(begin_flow("link", provider, session_token=request.cookies.get(SESSION_COOKIE, "")))


@actions.form("/account/identities/{identity_id}/remove", then="/account#identities")
async def remove_identity(identity_id: str, caller: Own, accounts: Provided[Accounts]) -> None:
    await accounts.grants.remove_identity(caller, identity_id)


@actions.pages.get("/sign-in/with/{provider}/return")
async def come_back(
    request: Request,
    provider: str,
    accounts: Provided[Accounts],
    way: PageOf[WayToProvider],
    code: Answer = "",
    state: Answer = "",
    error: Answer = "",
) -> Response:
    """The provider sends the browser here. Only the browser that began has the cookie that matches the state."""
    chosen = way.provider(provider)
    flow = read_flow(request.cookies.get(FLOW_COOKIE, ""), request.cookies.get(SESSION_COOKIE, ""))
    if flow is None or flow.provider != provider or not flow.is_state(state):
        raise SignInCancelled("This sign-in began in another browser or too long ago. Start again.")
    if error or not code:
        raise SignInCancelled(f"{chosen.label} did not sign you in. Start again, or sign in another way.")
    identity = await chosen.identify(flow, way.return_to(provider), code)
    if flow.purpose != "sign-in":
        # Anyone with an API token can make up the flow's cookie. What counts is the session that came back.
        caller = await current_caller(request)
        if caller is None:
            raise NotSignedIn("Your session has ended. Sign in, then start again.")
        if flow.purpose == "confirm":
            await accounts.confirm_with_identity(caller, identity)
        else:
            await accounts.grants.add_identity(caller, identity)
        page = own_page(flow.page, "/account#identities")
        response: Response = RedirectResponse(page, status_code=303)
    else:
        token = await accounts.sign_in_with_identity(
            identity, flow.invitation, client_address(request), user_agent(request)
        )
        response = signed_in(request, token, own_page(flow.page, "/"))
    delete_cookie(request, response, FLOW_COOKIE)
    return response
