"""The caller of a request, by bearer token or session cookie; its scopes; and the origins that may use a cookie."""

from collections.abc import Awaitable, Callable
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Request
from starlette.responses import RedirectResponse, Response

from app.accounts.caller import GUEST_ID, GUEST_NAME, Caller, Guest, User
from app.accounts.digest import digest
from app.accounts.errors import OriginRefused, ScopeMissing
from app.accounts.roles import Role, Scope, is_at_least
from app.accounts.service import Accounts
from app.core.errors import NotSignedIn, RoleMissing, TokenInvalid
from app.core.rest.routing import refuses
from app.core.services import services_of
from app.core.settings import Settings
from app.core.web.cookies import FORM_COOKIE, SESSION_COOKIE, delete_cookie, set_cookie

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


async def current_caller(request: Request) -> Caller | None:
    """The caller, or `None`. A bearer token must be valid; a stale cookie is ignored.

    Raises:
      TokenInvalid: there is an Authorization header without a valid bearer token.
      OriginRefused: an unsafe method with a cookie, and nothing shows that a page of this site sent it.
    """
    # Several dependencies of one route need it, but the database is read once.
    if not hasattr(request.state, "caller"):
        request.state.caller = await _find_caller(request)
    caller: Caller | None = request.state.caller
    return caller


async def _find_caller(request: Request) -> Caller | None:
    accounts = accounts_of(request)
    authorization = request.headers.get("authorization")
    if authorization is not None:
        return await accounts.tokens.caller(_bearer(authorization))
    cookie = request.cookies.get(SESSION_COOKIE)
    if not cookie:
        return None
    caller = await accounts.sessions.caller(cookie)
    if caller is not None and request.method not in _SAFE_METHODS:
        check_origin(request)
    return caller


def allow_scope(scope: Scope) -> Callable[[Request], Awaitable[User | None]]:
    """A dependency of public routes: the user, or `None` if nobody is signed in. Raises `ScopeMissing`."""

    async def allowed(request: Request) -> User | None:
        caller = await current_caller(request)
        return None if caller is None else _reach(caller, scope).user

    return allowed


def require_caller(scope: Scope) -> Callable[[Request], Awaitable[Caller]]:
    """A dependency: the caller of the request. Raises `NotSignedIn` (401) and `ScopeMissing` (403)."""

    @refuses(401, 403)
    async def required(request: Request) -> Caller:
        caller = await current_caller(request)
        if caller is None:
            raise NotSignedIn(
                "Send an API token (Authorization: Bearer …), or sign in with a browser.",
                on_page="This page is for people who are signed in. Sign in, and you come back to it.",
                headers={"WWW-Authenticate": "Bearer"},
            )
        return _reach(caller, scope)

    return required


def require_scope(scope: Scope) -> Callable[[Request], Awaitable[User]]:
    """A dependency: the user who sent the request. Raises `NotSignedIn` (401) and `ScopeMissing` (403)."""
    required_caller = require_caller(scope)

    @refuses(401, 403)
    async def required(request: Request) -> User:
        return (await required_caller(request)).user

    return required


def require_caller_role(minimum: Role, scope: Scope = "instruct") -> Callable[[Request], Awaitable[Caller]]:
    """A dependency: a caller with this role or above. Raises `RoleMissing` (403) and the errors of `require_caller`."""
    required_caller = require_caller(scope)

    @refuses(401, 403)
    async def required(request: Request) -> Caller:
        caller = await required_caller(request)
        if not is_at_least(caller.user.role, minimum):
            raise RoleMissing(f"This requires the role {minimum}. Yours is {caller.user.role}.")
        return caller

    return required


def require_role(minimum: Role, scope: Scope = "instruct") -> Callable[[Request], Awaitable[User]]:
    """A dependency: the user behind `require_caller_role`."""
    required_caller = require_caller_role(minimum, scope)

    @refuses(401, 403)
    async def required(request: Request) -> User:
        return (await required_caller(request)).user

    return required


def admit_guests(scope: Scope) -> Callable[[Request], Awaitable[User]]:
    """A dependency: the user who sent the request, or the guest. Raises the errors of `require_scope`."""
    required_caller = require_caller(scope)

    @refuses(401, 403)
    async def admitted(request: Request) -> User:
        guest = await current_guest(request)
        return guest if guest is not None else (await required_caller(request)).user

    return admitted


async def current_guest(request: Request) -> User | None:
    """The guest, if nobody is signed in, guests may run, and the browser has the cookie of our forms.

    A browser whose session has ended is not a guest's: its user expects to find the run in their account.
    """
    if await current_caller(request) is not None or not services_of(request)[Settings].guest_runs_in_total:
        return None
    cookie = request.cookies.get(FORM_COOKIE)
    if not cookie or request.cookies.get(SESSION_COOKIE):
        return None
    if request.method not in _SAFE_METHODS:
        check_origin(request)
    return User(GUEST_ID, GUEST_NAME, "student", Guest(digest(f"guest {cookie}"), client_address(request)))


current_user = allow_scope("read")
# Who may call a route. A `Grader` may be the assistant of a course: a look at the course or the person says what of.
Reader = Annotated[User, Depends(require_scope("read"))]
Submitter = Annotated[User, Depends(require_scope("submit"))]
Grader = Annotated[User, Depends(require_scope("instruct"))]
Instructor = Annotated[User, Depends(require_role("instructor"))]
Owner = Annotated[User, Depends(require_role("owner", "account"))]
# Callers who change their own account.
Own = Annotated[Caller, Depends(require_caller("account"))]
# A guest runs without an account, and sees nothing but their own runs.
ReaderOrGuest = Annotated[User, Depends(admit_guests("read"))]
SubmitterOrGuest = Annotated[User, Depends(admit_guests("submit"))]
# For public routes: None if nobody is signed in, or if the browser is not that of a guest.
MaybeUser = Annotated[User | None, Depends(current_user)]
MaybeSubmitter = Annotated[User | None, Depends(allow_scope("submit"))]
MaybeGuest = Annotated[User | None, Depends(current_guest)]


def _reach(caller: Caller, scope: Scope) -> Caller:
    if scope not in caller.scopes:
        raise ScopeMissing(
            f"This requires the scope {scope!r}. Your API token has: {', '.join(sorted(caller.scopes))}. "
            "Create a token with that scope.",
            headers={"WWW-Authenticate": f'Bearer error="insufficient_scope", scope="{scope}"'},
            scope=scope,
        )
    return caller


def check_origin(request: Request) -> None:
    """Refuse a request that another site made the browser send. A page's script can set neither header."""
    settings = services_of(request)[Settings]
    fetch_site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    here = {request.headers.get("host", ""), urlsplit(settings.public_url or "").netloc} - {""}
    foreign = (fetch_site is not None and fetch_site != "same-origin") or (
        origin is not None and urlsplit(origin).netloc not in here
    )
    if foreign or (fetch_site is None and origin is None):
        raise OriginRefused(
            "A request that changes something and carries a session cookie must come from a page of this site, as its "
            f"headers show. This one has Origin: {origin!r:.120} and Sec-Fetch-Site: {fetch_site!r:.40}. "
            "In a program, send an API token instead of the cookie.",
            on_page="Nothing was changed, because your browser did not say that the request came from a page of this "
            "site. Go back, load the page again, and repeat what you did.",
        )


async def require_own_page(request: Request) -> None:
    """A dependency of forms that need no session. Raises `OriginRefused`."""
    check_origin(request)


FromOwnPage = Annotated[None, Depends(require_own_page)]


def signed_in(request: Request, session_token: str, to: str = "/") -> Response:
    """Set the session cookie and go to `to`."""
    accounts = accounts_of(request)
    response = RedirectResponse(to, status_code=303)
    set_cookie(request, response, SESSION_COOKIE, session_token, int(accounts.sessions.life.total_seconds()))
    # The address can contain a secret, which must reach neither a cache nor the next site.
    response.headers["Cache-Control"] = "no-store"
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


def signed_out(request: Request) -> Response:
    """Remove the session cookie and go to the front page."""
    response = RedirectResponse("/", status_code=303)
    delete_cookie(request, response, SESSION_COOKIE)
    # After signing out, the Back button must not show any page again.
    response.headers["Clear-Site-Data"] = '"cache"'
    return response


async def reader_of(request: Request) -> User | None:
    """The signed-in user, for the head of an error page: by the cookie alone, whatever the request's origin."""
    cookie = request.cookies.get(SESSION_COOKIE)
    return await accounts_of(request).user_of_session(cookie) if cookie else None


def accounts_of(request: Request) -> Accounts:
    return services_of(request)[Accounts]


def site_address(request: Request) -> str | None:
    """The address of the service, without a slash at the end; None if only `public_url` could name it.

    The request's Host header is not used: the sender chose it, and a link to another host would give away the secret in
    it. A name of this machine itself is the exception, because such a link cannot lead elsewhere.
    """
    settings = services_of(request)[Settings]
    if settings.public_url is None and settings.listens_here_alone:
        host = request.headers.get("host", "")
        if host in {f"{name}:{settings.port}" for name in ("localhost", "127.0.0.1", "[::1]")}:
            return f"http://{host}"
    return settings.site


def sign_up_link(request: Request, invitation: str) -> str:
    """The link with which to use the invitation; only a path if the service's address is unknown."""
    return f"{site_address(request) or ''}/sign-up?invitation={invitation}"


def sign_in_link(request: Request, token: str) -> str:
    """The link that signs one browser in; only a path if the service's address is unknown."""
    return f"{site_address(request) or ''}/sign-in?token={token}"


def client_address(request: Request) -> str:
    return request.client.host if request.client else ""


def user_agent(request: Request) -> str:
    return request.headers.get("user-agent", "")


def _bearer(authorization: str) -> str:
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise TokenInvalid(
            "The Authorization header must be `Bearer`, one space and the API token.",
            headers={"WWW-Authenticate": 'Bearer error="invalid_request"'},
        )
    return token.strip()
