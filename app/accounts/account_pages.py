"""The pages of your account: password, sessions, API tokens."""

from dataclasses import dataclass

from fastapi import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.browser_name import browser_name
from app.accounts.caller import Caller
from app.accounts.providers import Providers
from app.accounts.ranking_names import read_ranking_name, set_ranking_name
from app.accounts.roles import SCOPE_MEANINGS, SCOPES, is_at_least
from app.accounts.service import Accounts
from app.accounts.web import Own, client_address
from app.core.database import Database
from app.core.errors import FieldInvalid, Refused, SignInAgain
from app.core.rest.actions import PageOf
from app.core.rest.routing import PageRouter
from app.core.services import Provided
from app.core.web.cookies import ZONE_COOKIE, set_cookie
from app.core.web.forms import read_form
from app.core.web.templating import render_secret_page
from app.core.web.time_zone import chosen_zone, zones

router = PageRouter("/account")
_YEAR_S = 365 * 24 * 60 * 60


@dataclass(frozen=True, slots=True)
class AccountPages:
    """The page of the account, and that of its API tokens."""

    request: Request
    accounts: Provided[Accounts]
    providers: Provided[Providers]
    database: Provided[Database]

    async def show_account(self, caller: Caller, refusal: Refused | None = None) -> HTMLResponse:
        accounts = self.accounts
        return render_secret_page(
            "accounts/account.html",
            refusal=refusal,
            user=caller.user,
            changed=self.request.query_params.get("changed"),
            zone=chosen_zone() or "UTC",
            zones=sorted(zones()),
            ranking_name=await read_ranking_name(self.database, caller.user),
            has_password=await accounts.has_password(caller.user),
            recent=accounts.recent.covers(caller),
            sessions=[(each, browser_name(each.user_agent)) for each in await accounts.sessions.list(caller.user.id)],
            this_session=caller.session_id,
            identities=await accounts.identities.list(caller.user.id),
            providers=self.providers.values(),
            invites=is_at_least(caller.user.role, "instructor"),
        )

    async def show_tokens(
        self, caller: Caller, *, refusal: Refused | None = None, secret: str | None = None, name: str = ""
    ) -> HTMLResponse:
        return render_secret_page(
            "accounts/account_tokens.html",
            refusal=refusal,
            user=caller.user,
            recent=self.accounts.recent.covers(caller),
            tokens=await self.accounts.tokens.list(caller.user.id),
            meanings=SCOPE_MEANINGS,
            secret=secret,
            name=name,
        )


@router.get("")
async def show_account(caller: Own, page: PageOf[AccountPages]) -> HTMLResponse:
    return await page.show_account(caller)


@router.post("/password")
async def change_password(
    request: Request, caller: Own, accounts: Provided[Accounts], page: PageOf[AccountPages]
) -> Response:
    form = await read_form(request)
    try:
        await accounts.change_password(caller, form.get("old", ""), form.get("new", ""), client_address(request))
    except SignInAgain:
        raise
    except Refused as refusal:
        return await page.show_account(caller, refusal)
    return _go("/account?changed=password")


@router.post("/rankings")
async def choose_ranking_name(
    request: Request, caller: Own, database: Provided[Database], page: PageOf[AccountPages]
) -> Response:
    form = await read_form(request)
    try:
        await set_ranking_name(database, caller.user, form.get("ranking_name", ""), is_public="hidden" not in form)
    except Refused as refusal:
        return await page.show_account(caller, refusal)
    return _go("/account?changed=rankings#rankings")


@router.post("/time-zone")
async def choose_time_zone(request: Request, caller: Own, page: PageOf[AccountPages]) -> Response:
    """Keep the choice in this browser, like the theme."""
    name = (await read_form(request)).get("zone", "")
    if name not in zones():
        return await page.show_account(caller, FieldInvalid(f"zone: there is no time zone {name[:64]!r}."))
    response = _go("/account?changed=zone#zone")
    set_cookie(request, response, ZONE_COOKIE, name, max_age_s=_YEAR_S)
    return response


@router.post("/sessions/revoke-others")
async def revoke_other_sessions(request: Request, caller: Own, accounts: Provided[Accounts]) -> Response:
    await read_form(request)
    await accounts.sessions.revoke_others(caller.user.id, caller.session_id)
    return _go("/account#sessions")


@router.post("/sessions/{session_id}/revoke")
async def revoke_session(request: Request, session_id: str, caller: Own, accounts: Provided[Accounts]) -> Response:
    await read_form(request)
    await accounts.sessions.revoke(caller.user.id, session_id)
    return _go("/account#sessions")


@router.get("/tokens")
async def show_tokens(caller: Own, page: PageOf[AccountPages]) -> HTMLResponse:
    return await page.show_tokens(caller)


@router.post("/tokens")
async def create_token(
    request: Request, caller: Own, accounts: Provided[Accounts], page: PageOf[AccountPages]
) -> HTMLResponse:
    """Responds with the page itself instead of a redirect, because the token can be shown only once."""
    form = await read_form(request)
    try:
        secret, _ = await accounts.grants.create_token(
            caller,
            form.get("name", ""),
            [scope for scope in SCOPES if f"scope-{scope}" in form],
            _days(form.get("days", "")),
        )
    except SignInAgain as needed:
        raise needed.back_to("/account/tokens") from None
    except Refused as refusal:
        return await page.show_tokens(caller, refusal=refusal, name=form.get("name", ""))
    return await page.show_tokens(caller, secret=secret)


def _days(text: str) -> int | None:
    """The number of days chosen in a form; None for a token that does not expire."""
    if text == "":
        return None
    if not text.isascii() or not text.isdecimal() or len(text) > 4:
        raise FieldInvalid("days: choose a value from the list.")
    return int(text)


def _go(path: str) -> Response:
    return RedirectResponse(path, status_code=303)
