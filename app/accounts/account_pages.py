"""The page of your account: password, name in rankings, time zone, sessions."""

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
from app.core.web.time_zone import chosen_zone, zones

_YEAR_S = 365 * 24 * 60 * 60


class NewPasswordForm(RequestBody):
    old: Password = ""
    new: Password = ""


class RankingNameForm(RequestBody):
    ranking_name: str = ""
    hidden: bool = False


class ZoneForm(RequestBody):
    zone: str = ""


@dataclass(frozen=True)
class AccountPage(FormPage):
    request: Request
    caller: Own
    accounts: Provided[Accounts]
    providers: Provided[Providers]
    database: Provided[Database]
    path = "/account"

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        return await self.show(refusal)

    async def show(self, refusal: Refused | None = None) -> HTMLResponse:
        accounts, caller = self.accounts, self.caller
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


actions = Actions("accounts", AccountPage, "/account")
_SESSIONS = "/account#sessions"


@actions.pages.get("")
async def show_account(page: PageOf[AccountPage]) -> HTMLResponse:
    return await page.show()


@actions.form("/password", then="/account?changed=password")
async def change_password(request: Request, caller: Own, body: NewPasswordForm, accounts: Provided[Accounts]) -> None:
    await accounts.change_password(caller, body.old, body.new, client_address(request))


@actions.form("/rankings", then="/account?changed=rankings#rankings")
async def choose_ranking_name(caller: Own, body: RankingNameForm, database: Provided[Database]) -> None:
    await set_ranking_name(database, caller.user, body.ranking_name, is_public=not body.hidden)


@actions.form("/time-zone")
async def choose_time_zone(request: Request, caller: Own, body: ZoneForm) -> Response:
    """Keep the choice in this browser, like the theme."""
    if body.zone not in zones():
        raise FieldInvalid(f"zone: there is no time zone {body.zone[:64]!r}.")
    response = RedirectResponse("/account?changed=zone#zone", status_code=303)
    set_cookie(request, response, ZONE_COOKIE, body.zone, max_age_s=_YEAR_S)
    return response


@actions.form("/sessions/revoke-others", then=_SESSIONS)
async def revoke_other_sessions(caller: Own, accounts: Provided[Accounts]) -> None:
    await accounts.sessions.revoke_others(caller.user.id, caller.session_id)


@actions.form("/sessions/{session_id}/revoke", then=_SESSIONS)
async def revoke_session(session_id: str, caller: Own, accounts: Provided[Accounts]) -> None:
    await accounts.sessions.revoke(caller.user.id, session_id)
