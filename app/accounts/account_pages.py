"""The page of your account: preferences, password, sessions."""

from dataclasses import dataclass

from fastapi import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.browser_name import browser_name
from app.accounts.providers import Providers
from app.accounts.ranking_names import read_ranking_name, set_ranking_name
from app.accounts.roles import is_at_least
from app.accounts.schemas import Password
from app.accounts.service import Accounts
from app.accounts.web import Own, client_address
from app.core.database import Database
from app.core.errors import FieldInvalid, Refused
from app.core.rest.actions import Actions, FormPage, PageOf, Typed
from app.core.rest.body import RequestBody
from app.core.services import Provided
from app.core.web.cookies import ZONE_COOKIE, set_cookie
from app.core.web.templating import render_secret_page
from app.core.web.theme import keep_theme, theme
from app.core.web.time_zone import chosen_zone, zones

_YEAR_S = 365 * 24 * 60 * 60


class NewPasswordForm(RequestBody):
    old: Password = ""
    new: Password = ""


class PreferencesForm(RequestBody):
    ranking_name: str = ""
    hidden: bool = False
    zone: str = ""
    theme: str = ""


@dataclass(frozen=True)
class AccountPage(FormPage):
    request: Request
    caller: Own
    accounts: Provided[Accounts]
    providers: Provided[Providers]
    database: Provided[Database]
    path = "/account"

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        return await self.show(typed if action == save_preferences.__name__ else None, refusal)

    async def show(self, typed: Typed | None = None, refusal: Refused | None = None) -> HTMLResponse:
        accounts, caller = self.accounts, self.caller
        ranking_name = await read_ranking_name(self.database, caller.user)
        return render_secret_page(
            "accounts/account.html",
            refusal=refusal,
            user=caller.user,
            changed=self.request.query_params.get("changed"),
            zone=chosen_zone() or "UTC" if typed is None else typed["zone"],
            zones=sorted(zones()),
            ranking_name=ranking_name.name if typed is None else typed["ranking_name"],
            is_hidden=not ranking_name.is_public if typed is None else bool(typed["hidden"]),
            typed_theme=theme() if typed is None else typed["theme"],
            has_password=await accounts.has_password(caller.user),
            recent=accounts.recent.covers(caller),
            sessions=[(each, browser_name(each.user_agent)) for each in await accounts.sessions.list(caller.user.id)],
            this_session=caller.session_id,
            identities=await accounts.identities.list(caller.user.id),
            providers=self.providers.values(),
            invites=is_at_least(caller.user.role, "instructor"),
        )


actions = Actions("accounts", AccountPage, "/account")
_SESSIONS = "/account#sessions"


@actions.pages.get("")
async def show_account(page: PageOf[AccountPage]) -> HTMLResponse:
    return await page.show()


@actions.form("/password", then="/account?changed=password")
async def change_password(request: Request, caller: Own, body: NewPasswordForm, accounts: Provided[Accounts]) -> None:
    await accounts.change_password(caller, body.old, body.new, client_address(request))


@actions.form("/preferences")
async def save_preferences(
    request: Request, caller: Own, body: PreferencesForm, database: Provided[Database]
) -> Response:
    """Keep the name in rankings in the account, and the time zone and the theme in this browser."""
    if body.zone not in zones():
        raise FieldInvalid(f"zone: there is no time zone {body.zone[:64]!r}.")
    await set_ranking_name(database, caller.user, body.ranking_name, is_public=not body.hidden)
    response = RedirectResponse("/account?changed=preferences#preferences", status_code=303)
    set_cookie(request, response, ZONE_COOKIE, body.zone, max_age_s=_YEAR_S)
    keep_theme(request, response, body.theme)
    return response


@actions.form("/sessions/revoke-others", then=_SESSIONS)
async def revoke_other_sessions(caller: Own, accounts: Provided[Accounts]) -> None:
    await accounts.sessions.revoke_others(caller.user.id, caller.session_id)


@actions.form("/sessions/{session_id}/revoke", then=_SESSIONS)
async def revoke_session(session_id: str, caller: Own, accounts: Provided[Accounts]) -> None:
    await accounts.sessions.revoke(caller.user.id, session_id)
