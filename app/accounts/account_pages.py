"""The pages of your account: password, sessions, API tokens, invitations."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.browser_name import browser_name
from app.accounts.caller import Caller
from app.accounts.invitations import LONGEST_NOTE, MOST_AT_ONCE
from app.accounts.providers import Providers
from app.accounts.ranking_names import read_ranking_name, set_ranking_name
from app.accounts.roles import ROLES, SCOPE_MEANINGS, SCOPES, is_at_least
from app.accounts.web import accounts_of, client_address, require_caller, require_caller_role, sign_up_link
from app.core.database import Database
from app.core.errors import FieldInvalid, Refused, SignInAgain
from app.core.services import Provided, services_of
from app.core.web.cookies import ZONE_COOKIE, set_cookie
from app.core.web.forms import read_form
from app.core.web.templating import render_secret_page
from app.core.web.time_zone import chosen_zone, zones

router = APIRouter(prefix="/account", include_in_schema=False)
_YEAR_S = 365 * 24 * 60 * 60
Own = Annotated[Caller, Depends(require_caller("account"))]
Inviter = Annotated[Caller, Depends(require_caller_role("instructor", "account"))]


@router.get("")
async def show_account(request: Request, caller: Own) -> HTMLResponse:
    return await _account_page(request, caller)


@router.post("/password")
async def change_password(request: Request, caller: Own) -> Response:
    form = await read_form(request)
    try:
        await accounts_of(request).change_password(
            caller, form.get("old", ""), form.get("new", ""), client_address(request)
        )
    except SignInAgain:
        raise
    except Refused as refusal:
        return await _account_page(request, caller, refusal)
    return _go("/account?changed=password")


@router.post("/rankings")
async def choose_ranking_name(request: Request, caller: Own, database: Provided[Database]) -> Response:
    form = await read_form(request)
    try:
        await set_ranking_name(database, caller.user, form.get("ranking_name", ""), is_public="hidden" not in form)
    except Refused as refusal:
        return await _account_page(request, caller, refusal)
    return _go("/account?changed=rankings#rankings")


@router.post("/time-zone")
async def choose_time_zone(request: Request, caller: Own) -> Response:
    """Keep the choice in this browser, like the theme."""
    name = (await read_form(request)).get("zone", "")
    if name not in zones():
        return await _account_page(request, caller, FieldInvalid(f"zone: there is no time zone {name[:64]!r}."))
    response = _go("/account?changed=zone#zone")
    set_cookie(request, response, ZONE_COOKIE, name, max_age_s=_YEAR_S)
    return response


@router.post("/sessions/revoke-others")
async def revoke_other_sessions(request: Request, caller: Own) -> Response:
    await read_form(request)
    await accounts_of(request).sessions.revoke_others(caller.user.id, caller.session_id)
    return _go("/account#sessions")


@router.post("/sessions/{session_id}/revoke")
async def revoke_session(request: Request, session_id: str, caller: Own) -> Response:
    await read_form(request)
    await accounts_of(request).sessions.revoke(caller.user.id, session_id)
    return _go("/account#sessions")


@router.get("/tokens")
async def show_tokens(request: Request, caller: Own) -> HTMLResponse:
    return await _tokens_page(request, caller)


@router.post("/tokens")
async def create_token(request: Request, caller: Own) -> HTMLResponse:
    """Responds with the page itself instead of a redirect, because the token can be shown only once."""
    form = await read_form(request)
    try:
        secret, _ = await accounts_of(request).grants.create_token(
            caller,
            form.get("name", ""),
            [scope for scope in SCOPES if f"scope-{scope}" in form],
            _days(form.get("days", "")),
        )
    except SignInAgain as needed:
        raise needed.back_to("/account/tokens") from None
    except Refused as refusal:
        return await _tokens_page(request, caller, refusal=refusal, name=form.get("name", ""))
    return await _tokens_page(request, caller, secret=secret)


@router.post("/tokens/{token_id}/revoke")
async def revoke_token(request: Request, token_id: str, caller: Own) -> Response:
    await read_form(request)
    await accounts_of(request).tokens.revoke(caller.user.id, token_id)
    return _go("/account/tokens")


@router.get("/invitations")
async def show_invitations(request: Request, caller: Inviter) -> HTMLResponse:
    return await _invitations_page(request, caller)


@router.post("/invitations")
async def create_invitation(request: Request, caller: Inviter) -> HTMLResponse:
    form = await read_form(request)
    try:
        role, days = form.get("role", ""), _days(form.get("days", ""))
        if role not in ROLES or days is None:
            raise FieldInvalid("Choose a role, and how many days the invitation is valid.")
        secret, _ = await accounts_of(request).grants.invite(caller, role, form.get("note", ""), days)
    except SignInAgain as needed:
        raise needed.back_to("/account/invitations") from None
    except Refused as refusal:
        return await _invitations_page(request, caller, refusal=refusal, note=form.get("note", ""))
    return await _invitations_page(request, caller, secret=secret)


@router.post("/invitations/class")
async def invite_class(request: Request, caller: Inviter) -> HTMLResponse:
    """An invitation for each line. Responds with the page itself, because the links can be shown only once."""
    # Percent-encoding turns one character into at most twelve bytes.
    form = await read_form(request, max_bytes=12 * MOST_AT_ONCE * (LONGEST_NOTE + 2) + 1024)
    names = form.get("names", "")
    try:
        days = _days(form.get("days", ""))
        if days is None:
            raise FieldInvalid("Choose how many days the invitations are valid.")
        lines = [line.strip() for line in names.split("\n") if line.strip()]
        invited = await accounts_of(request).invitations.create_for_class(caller.user, lines, days)
    except Refused as refusal:
        return await _invitations_page(request, caller, refusal=refusal, names=names)
    links = [(view.note, sign_up_link(request, token)) for token, view in invited]
    return await _invitations_page(request, caller, links=links)


@router.post("/invitations/{invitation_id}/revoke")
async def revoke_invitation(request: Request, invitation_id: str, caller: Inviter) -> Response:
    await read_form(request)
    await accounts_of(request).invitations.revoke(caller.user.id, invitation_id)
    return _go("/account/invitations")


async def _account_page(request: Request, caller: Caller, refusal: Refused | None = None) -> HTMLResponse:
    accounts = accounts_of(request)
    return render_secret_page(
        "account.html",
        refusal=refusal,
        user=caller.user,
        changed=request.query_params.get("changed"),
        zone=chosen_zone() or "UTC",
        zones=sorted(zones()),
        ranking_name=await read_ranking_name(services_of(request)[Database], caller.user),
        has_password=await accounts.has_password(caller.user),
        recent=accounts.recent.covers(caller),
        sessions=[(each, browser_name(each.user_agent)) for each in await accounts.sessions.list(caller.user.id)],
        this_session=caller.session_id,
        identities=await accounts.identities.list(caller.user.id),
        providers=services_of(request)[Providers].values(),
        invites=is_at_least(caller.user.role, "instructor"),
    )


async def _tokens_page(
    request: Request, caller: Caller, *, refusal: Refused | None = None, secret: str | None = None, name: str = ""
) -> HTMLResponse:
    return render_secret_page(
        "account_tokens.html",
        refusal=refusal,
        user=caller.user,
        recent=accounts_of(request).recent.covers(caller),
        tokens=await accounts_of(request).tokens.list(caller.user.id),
        meanings=SCOPE_MEANINGS,
        secret=secret,
        name=name,
    )


async def _invitations_page(
    request: Request,
    caller: Caller,
    *,
    refusal: Refused | None = None,
    secret: str | None = None,
    note: str = "",
    links: Sequence[tuple[str, str]] = (),
    names: str = "",
) -> HTMLResponse:
    accounts = accounts_of(request)
    return render_secret_page(
        "account_invitations.html",
        refusal=refusal,
        user=caller.user,
        recent=accounts.recent.covers(caller),
        invitations=await accounts.invitations.list(caller.user.id),
        roles=[role for role in ROLES if is_at_least(caller.user.role, role)],
        closed=accounts.sign_up_by == "closed",
        link=None if secret is None else sign_up_link(request, secret),
        note=note,
        links=links,
        names=names,
        most_at_once=MOST_AT_ONCE,
    )


def _days(text: str) -> int | None:
    """The number of days chosen in a form; None for a token that does not expire."""
    if text == "":
        return None
    if not text.isascii() or not text.isdecimal() or len(text) > 4:
        raise FieldInvalid("days: choose a value from the list.")
    return int(text)


def _go(path: str) -> Response:
    return RedirectResponse(path, status_code=303)
