"""A launch in the browser: the platform's two requests, the ticket, and the selection of what to link.

The platform may show our response in a frame, where a browser sends none of our cookies. No page of this site is shown
in a frame, except one that only leads to a new tab. The two requests of a platform use no session, so any site may send
them: what counts is the platform's signature.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.caller import Caller, User
from app.accounts.digest import digest, new_token
from app.accounts.service import Accounts
from app.accounts.web import Reader, check_origin, current_caller, signed_in, site_address, user_agent
from app.core.errors import NotSignedIn, Refused, SignInAgain
from app.core.rest.actions import PageOf
from app.core.rest.routing import PageRouter
from app.core.services import Provided
from app.core.web.cookies import SESSION_COOKIE, set_cookie
from app.core.web.form_token import FIELD, check_form_token
from app.core.web.forms import read_form, read_unchecked_form
from app.core.web.security import CONTENT_SECURITY_POLICY
from app.core.web.templating import render_secret_page
from app.problems.catalogue import Catalogue
from app.teaching.lti.errors import LaunchRefused
from app.teaching.lti.keys import ToolKeys
from app.teaching.lti.launches import Launch, Launches
from app.teaching.lti.login_state import BROWSER_COOKIE, LIFE_S
from app.teaching.lti.messages import origin_of
from app.teaching.lti.selections import Selections, selection_page

router = PageRouter("/lti")
Ticket = Annotated[str, Query(max_length=100)]
_MAX_BYTES = 64 * 1024
# A field for each problem and assignment that is chosen at once.
_MOST_FIELDS = 2000
_KINDS = ("problem ", "assignment ")


@router.get("/jwks.json")
async def show_keys(lti_keys: Provided[ToolKeys]) -> dict[str, object]:
    return await lti_keys.published()


@router.get("/login")
async def begin_by_address(request: Request, launches: Provided[Launches]) -> Response:
    return await _begin(request, launches, dict(request.query_params))


@router.post("/login")
async def begin_by_form(request: Request, launches: Provided[Launches]) -> Response:
    return await _begin(request, launches, await read_unchecked_form(request, max_bytes=_MAX_BYTES))


@router.post("/launch")
async def launch(request: Request, lti_launches: Provided[Launches]) -> Response:
    """The platform's message. It is verified here, and the ticket leads to `/lti/continue`."""
    fields = await read_unchecked_form(request, max_bytes=_MAX_BYTES)
    try:
        if "error" in fields:
            words = fields.get("error_description") or fields["error"]
            raise LaunchRefused(f"The learning platform refused: {words[:200]!r}. Sign in there, then try again.")
        ticket = await lti_launches.receive(fields.get("id_token", ""), fields.get("state", ""))
    except Refused as refusal:
        return in_frame(render_secret_page("teaching/lti/lti_frame.html", refusal=refusal, address=None))
    address = f"/lti/continue?ticket={ticket}"
    if request.headers.get("sec-fetch-dest") == "document":
        return secret(RedirectResponse(address, status_code=303))
    return in_frame(render_secret_page("teaching/lti/lti_frame.html", refusal=None, address=address))


@router.get("/continue")
async def go_on(request: Request, launches: Provided[Launches], ticket: Ticket = "") -> Response:
    """Continue at once if it is clear whom to sign in, otherwise ask."""
    waiting = await launches.look(ticket)
    caller = await current_caller(request)
    if waiting.user is not None:
        if caller is not None and caller.user.id == waiting.user.id:
            return secret(RedirectResponse(await launches.go_on(ticket, caller.user), status_code=303))
        if caller is None and digest(request.cookies.get(BROWSER_COOKIE, "")) == waiting.browser_hash:
            return signed_in(request, *await launches.enter(ticket, user_agent(request)))
    return _ask(ticket, waiting, caller)


@router.post("/continue")
async def finish(request: Request, launches: Provided[Launches], accounts: Provided[Accounts]) -> Response:
    check_origin(request)
    form = await read_form(request)
    ticket = form.get("ticket", "")
    caller = await current_caller(request)
    if form.get("choice") != "link":
        waiting = await launches.look(ticket)
        try:
            session_token, page = await launches.enter(ticket, user_agent(request))
        except LaunchRefused as refusal:
            return _ask(ticket, waiting, caller, refusal)
        # One browser, one session: the user who was signed in here is signed out.
        await accounts.sign_out(request.cookies.get(SESSION_COOKIE, ""))
        return signed_in(request, session_token, page)
    if caller is None:
        raise NotSignedIn("Your session has ended. Open the link in the learning platform again.")
    try:
        return secret(RedirectResponse(await launches.link(ticket, caller), status_code=303))
    except SignInAgain as needed:
        raise needed.back_to(f"/lti/continue?ticket={ticket}") from None


@dataclass(frozen=True, slots=True)
class SelectionPage:
    """The page on which an instructor chooses what to link."""

    selections: Provided[Selections]
    catalogue: Provided[Catalogue]

    async def show(
        self,
        selection_id: str,
        user: User,
        refusal: Refused | None = None,
        *,
        several: bool,
        columns: bool,
        chosen: Sequence[str] = (),
    ) -> HTMLResponse:
        return render_secret_page(
            "teaching/lti/lti_selection.html",
            refusal=refusal,
            user=user,
            selection=await self.selections.get(user, selection_id),
            sections=self.catalogue.listed(),
            address=selection_page(selection_id, several=several, columns=columns),
            several=several,
            columns=columns,
            marked=chosen,
        )


@router.get("/selections/{selection_id}")
async def show_selection(
    selection_id: str,
    user: Reader,
    page: PageOf[SelectionPage],
    several: bool = False,
    columns: bool = True,
) -> HTMLResponse:
    """`several` says that the platform takes more than one item, and `columns` that it makes columns of them."""
    return await page.show(selection_id, user, several=several, columns=columns)


@router.post("/selections/{selection_id}")
async def choose(
    request: Request,
    selection_id: str,
    user: Reader,
    selections: Provided[Selections],
    form_page: PageOf[SelectionPage],
    several: bool = False,
    columns: bool = True,
) -> Response:
    form = await read_unchecked_form(request, max_bytes=_MAX_BYTES, max_fields=_MOST_FIELDS)
    check_form_token(request, form.pop(FIELD, ""))
    chosen = [name for name in form if name.startswith(_KINDS)] if several else [form.get("choice", "")]
    selection = await selections.get(user, selection_id)
    try:
        token = await selections.answer(selection, chosen, columns=columns)
    except Refused as refusal:
        return await form_page.show(selection_id, user, refusal, several=several, columns=columns, chosen=chosen)
    page = render_secret_page("teaching/lti/lti_return.html", user=user, selection=selection, token=token)
    # The one form that leads to another site: the address that the platform signed.
    policy = CONTENT_SECURITY_POLICY.replace(
        "form-action 'self'", f"form-action 'self' {origin_of(selection.return_url)}"
    )
    page.headers["Content-Security-Policy"] = policy
    return page


async def _begin(request: Request, launches: Launches, fields: dict[str, str]) -> Response:
    site = site_address(request)
    browser = request.cookies.get(BROWSER_COOKIE) or new_token()
    try:
        if site is None:
            raise LaunchRefused("This service does not know its address. The operator must set MESHGRADE_PUBLIC_URL.")
        address = await launches.begin(fields, f"{site}/lti/launch", browser)
    except Refused as refusal:
        return in_frame(render_secret_page("teaching/lti/lti_frame.html", refusal=refusal, address=None))
    response = secret(RedirectResponse(address, status_code=302))
    # Lax, as all our cookies: it is sent with `/lti/continue`, to which the launch leads in the same tab.
    set_cookie(request, response, BROWSER_COOKIE, browser, LIFE_S)
    return response


def _ask(ticket: str, waiting: Launch, caller: Caller | None, refusal: Refused | None = None) -> HTMLResponse:
    page = render_secret_page(
        "teaching/lti/lti_continue.html",
        refusal=refusal,
        user=caller.user if caller else None,
        launch=waiting,
        ticket=ticket,
    )
    return page


def secret(response: Response) -> Response:
    """The address contains a ticket, which must reach neither a cache nor the next site."""
    response.headers["Cache-Control"] = "no-store"
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


def in_frame(page: HTMLResponse) -> HTMLResponse:
    """Which site shows it is not known: a platform's pages and its messages come from different hosts."""
    policy = CONTENT_SECURITY_POLICY.replace("frame-ancestors 'none'", "frame-ancestors http: https:")
    page.headers["Content-Security-Policy"] = policy
    return page
