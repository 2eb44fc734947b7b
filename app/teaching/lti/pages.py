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

from app.accounts.digest import digest, new_token
from app.accounts.service import Accounts
from app.accounts.web import FromOwnPage, Reader, current_caller, signed_in, site_address, user_agent
from app.core.errors import NotSignedIn, Refused
from app.core.rest.actions import Actions, FormPage, PageOf, Typed
from app.core.rest.body import RequestBody
from app.core.rest.routing import FROM_ANYONE, MaxBytes
from app.core.services import Provided
from app.core.web.cookies import SESSION_COOKIE, set_cookie
from app.core.web.forms import read_unchecked_form
from app.core.web.security import CONTENT_SECURITY_POLICY
from app.core.web.templating import render_secret_page
from app.problems.catalogue import Catalogue
from app.teaching.lti.errors import LaunchRefused
from app.teaching.lti.keys import ToolKeys
from app.teaching.lti.launches import Launch, Launches
from app.teaching.lti.login_state import BROWSER_COOKIE, LIFE_S
from app.teaching.lti.messages import origin_of
from app.teaching.lti.selections import Selections, selection_page

actions = Actions("learning platforms", prefix="/lti")
Ticket = Annotated[str, Query(max_length=100)]
_MAX_BYTES = 64 * 1024
# A field for each problem and assignment that is chosen at once.
_MOST_FIELDS = 2000
_KINDS = ("problem ", "assignment ")


@actions.pages.get("/jwks.json")
async def show_keys(lti_keys: Provided[ToolKeys]) -> dict[str, object]:
    return await lti_keys.published()


@actions.pages.get("/login")
async def begin_by_address(request: Request, launches: Provided[Launches]) -> Response:
    return await _begin(request, launches, dict(request.query_params))


@actions.pages.post("/login")
async def begin_by_form(request: Request, launches: Provided[Launches]) -> Response:
    return await _begin(request, launches, await read_unchecked_form(request, max_bytes=_MAX_BYTES))


@actions.pages.post("/launch")
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


class ContinueForm(RequestBody):
    """`choice` is `link` to link the platform's user to the account that is signed in, `enter` to sign in as them."""

    ticket: str = ""
    choice: str = ""


class ContinuePage(FormPage):
    """The page that asks whom to sign in."""

    def __init__(self, request: Request, launches: Provided[Launches]) -> None:
        self._request, self._launches = request, launches
        self._ticket = ""

    path = "/lti/continue?ticket={_ticket}"

    async def fill(self, action: str, typed: Typed) -> Response | None:
        self._ticket = typed["ticket"]
        return None

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        ticket = typed["ticket"]
        return await self.show(ticket, await self._launches.look(ticket), refusal)

    async def show(self, ticket: str, waiting: Launch, refusal: Refused | None = None) -> HTMLResponse:
        caller = await current_caller(self._request)
        user = caller.user if caller else None
        return render_secret_page(
            "teaching/lti/lti_continue.html", refusal=refusal, user=user, launch=waiting, ticket=ticket
        )


@actions.pages.get("/continue")
async def go_on(
    request: Request, launches: Provided[Launches], page: PageOf[ContinuePage], ticket: Ticket = ""
) -> Response:
    """Continue at once if it is clear whom to sign in, otherwise ask."""
    waiting = await launches.look(ticket)
    caller = await current_caller(request)
    if waiting.user is not None:
        if caller is not None and caller.user.id == waiting.user.id:
            return secret(RedirectResponse(await launches.go_on(ticket, caller.user), status_code=303))
        if caller is None and digest(request.cookies.get(BROWSER_COOKIE, "")) == waiting.browser_hash:
            return signed_in(request, *await launches.enter(ticket, user_agent(request)))
    return await page.show(ticket, waiting)


@actions.form("/continue", page=ContinuePage, max_bytes=FROM_ANYONE)
async def finish(
    request: Request,
    from_own_page: FromOwnPage,
    body: ContinueForm,
    launches: Provided[Launches],
    accounts: Provided[Accounts],
) -> Response:
    if body.choice != "link":
        session_token, page = await launches.enter(body.ticket, user_agent(request))
        # One browser, one session: the user who was signed in here is signed out.
        await accounts.sign_out(request.cookies.get(SESSION_COOKIE, ""))
        return signed_in(request, session_token, page)
    caller = await current_caller(request)
    if caller is None:
        raise NotSignedIn("Your session has ended. Open the link in the learning platform again.")
    return secret(RedirectResponse(await launches.link(body.ticket, caller), status_code=303))


@dataclass(frozen=True)
class SelectionPage(FormPage):
    """The page on which an instructor chooses what to link.

    `several` says that the platform takes more than one item, and `columns` that it makes columns of them.
    """

    selection_id: str
    user: Reader
    selections: Provided[Selections]
    catalogue: Provided[Catalogue]
    several: bool = False
    columns: bool = True

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        return await self.show(refusal, _chosen(typed, several=self.several))

    async def show(self, refusal: Refused | None = None, chosen: Sequence[str] = ()) -> HTMLResponse:
        several, columns = self.several, self.columns
        return render_secret_page(
            "teaching/lti/lti_selection.html",
            refusal=refusal,
            user=self.user,
            selection=await self.selections.get(self.user, self.selection_id),
            sections=self.catalogue.listed(),
            address=selection_page(self.selection_id, several=several, columns=columns),
            several=several,
            columns=columns,
            marked=chosen,
        )


@actions.pages.get("/selections/{selection_id}")
async def show_selection(page: PageOf[SelectionPage]) -> HTMLResponse:
    return await page.show()


@actions.form("/selections/{selection_id}", page=SelectionPage, max_bytes=MaxBytes(_MAX_BYTES), max_fields=_MOST_FIELDS)
async def choose(
    typed: Typed,
    selection_id: str,
    user: Reader,
    selections: Provided[Selections],
    several: bool = False,
    columns: bool = True,
) -> Response:
    selection = await selections.get(user, selection_id)
    token = await selections.answer(selection, _chosen(typed, several=several), columns=columns)
    page = render_secret_page("teaching/lti/lti_return.html", user=user, selection=selection, token=token)
    # The one form that leads to another site: the address that the platform signed.
    policy = CONTENT_SECURITY_POLICY.replace(
        "form-action 'self'", f"form-action 'self' {origin_of(selection.return_url)}"
    )
    page.headers["Content-Security-Policy"] = policy
    return page


def _chosen(typed: Typed, *, several: bool) -> list[str]:
    return [name for name in typed if name.startswith(_KINDS)] if several else [typed["choice"]]


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
