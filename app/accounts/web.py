"""Who is asking: a bearer token or the session cookie; how far that reaches; and where a cookie may come from."""

from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from fastapi import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from app.accounts.caller import Caller, User
from app.accounts.export import export_of
from app.accounts.roles import Role, Scope, is_at_least
from app.accounts.service import Accounts
from app.accounts.services import AccountServices
from app.clock import now
from app.errors import NotSignedIn, OriginRefused, RoleMissing, ScopeMissing, TokenInvalid
from app.services import Services, services_of
from app.web.cookies import SESSION_COOKIE, delete_cookie, set_cookie

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


async def current_caller(request: Request) -> Caller | None:
    """Who is asking, or `None`. A bearer token that is sent must be valid; a stale cookie is nobody.

    Raises:
      TokenInvalid: there is an Authorization header, and it does not hold a valid bearer token.
      OriginRefused: an unsafe method with a cookie, and nothing shows that a page of this site sent it.
    """
    # Several dependencies of one route ask; the database is asked once.
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
    """A dependency for what nobody may see as well: who is asking, or `None`. Raises `ScopeMissing`."""

    async def allowed(request: Request) -> User | None:
        caller = await current_caller(request)
        return None if caller is None else _reach(caller, scope).user

    return allowed


def require_caller(scope: Scope) -> Callable[[Request], Awaitable[Caller]]:
    """A dependency: who is asking, and what with. Raises `NotSignedIn` (401) and `ScopeMissing` (403)."""

    async def required(request: Request) -> Caller:
        caller = await current_caller(request)
        if caller is None:
            raise NotSignedIn(
                "Send an API token (Authorization: Bearer …), or sign in in the browser.",
                headers={"WWW-Authenticate": "Bearer"},
            )
        return _reach(caller, scope)

    return required


def require_scope(scope: Scope) -> Callable[[Request], Awaitable[User]]:
    """A dependency: the user who is asking. Raises `NotSignedIn` (401) and `ScopeMissing` (403)."""
    required_caller = require_caller(scope)

    async def required(request: Request) -> User:
        return (await required_caller(request)).user

    return required


def require_caller_role(minimum: Role, scope: Scope = "instruct") -> Callable[[Request], Awaitable[Caller]]:
    """A dependency: a caller of this role or above. Raises `RoleMissing` (403) and what `require_caller` does."""
    required_caller = require_caller(scope)

    async def required(request: Request) -> Caller:
        caller = await required_caller(request)
        if not is_at_least(caller.user.role, minimum):
            raise RoleMissing(f"This needs the role {minimum}; yours is {caller.user.role}.")
        return caller

    return required


def require_role(minimum: Role, scope: Scope = "instruct") -> Callable[[Request], Awaitable[User]]:
    """A dependency: the user behind `require_caller_role`."""
    required_caller = require_caller_role(minimum, scope)

    async def required(request: Request) -> User:
        return (await required_caller(request)).user

    return required


current_user = allow_scope("read")


def _reach(caller: Caller, scope: Scope) -> Caller:
    if scope not in caller.scopes:
        raise ScopeMissing(
            f"This needs the scope {scope!r}; this API token has: {', '.join(sorted(caller.scopes))}. "
            "Scopes are chosen when a token is made.",
            headers={"WWW-Authenticate": f'Bearer error="insufficient_scope", scope="{scope}"'},
            scope=scope,
        )
    return caller


def check_origin(request: Request) -> None:
    """Refuse a request that another site made the browser send. Neither header can be set by a page's script."""
    settings = services_of(request, Services).settings
    fetch_site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    here = {request.headers.get("host", ""), urlsplit(settings.public_url or "").netloc} - {""}
    foreign = (fetch_site is not None and fetch_site != "same-origin") or (
        origin is not None and urlsplit(origin).netloc not in here
    )
    if foreign or (fetch_site is None and origin is None):
        raise OriginRefused(
            "A request that changes something and is signed in by a cookie must come from a page of this site "
            f"(Origin or Sec-Fetch-Site header). Got Origin: {origin!r:.120}, Sec-Fetch-Site: {fetch_site!r:.40}. "
            "Programs should send an API token instead of the cookie."
        )


def signed_in(request: Request, session_token: str, to: str = "/") -> Response:
    """Set the session cookie and go to `to`."""
    accounts = accounts_of(request)
    response = RedirectResponse(to, status_code=303)
    set_cookie(request, response, SESSION_COOKIE, session_token, int(accounts.sessions.life.total_seconds()))
    # The address may have held a secret: it goes neither into a cache nor to the next site.
    response.headers["Cache-Control"] = "no-store"
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


def signed_out(request: Request) -> Response:
    """Remove the session cookie and go to the front page."""
    response = RedirectResponse("/", status_code=303)
    delete_cookie(request, response, SESSION_COOKIE)
    # Nothing of what was shown to the one who signed out comes back with the Back button.
    response.headers["Clear-Site-Data"] = '"cache"'
    return response


def export_response(request: Request, user: User) -> StreamingResponse:
    """All that is stored of the user, as a file to keep."""
    headers = {
        "Content-Disposition": f'attachment; filename="meshgrade-{now():%Y-%m-%d}.json"',
        "Cache-Control": "no-store",
    }
    return StreamingResponse(
        export_of(services_of(request, AccountServices).database, user), media_type="application/json", headers=headers
    )


async def reader_of(request: Request) -> User | None:
    """Who is signed in, for the head of an error page: by the cookie alone, and wherever the request came from."""
    cookie = request.cookies.get(SESSION_COOKIE)
    return await accounts_of(request).user_of_session(cookie) if cookie else None


def accounts_of(request: Request) -> Accounts:
    return services_of(request, AccountServices).accounts


def site_address(request: Request) -> str | None:
    """Under which people reach the service, without a slash at its end; None where only `public_url` could say.

    Never what the request's Host header says: the sender of the request chose it, and a link with a secret in it that
    leads to another host gives the secret away. A name of this very machine is the exception: it leads nobody astray.
    """
    settings = services_of(request, Services).settings
    if settings.public_url is None and settings.listens_here_alone:
        host = request.headers.get("host", "")
        if host in {f"{name}:{settings.port}" for name in ("localhost", "127.0.0.1", "[::1]")}:
            return f"http://{host}"
    return settings.site


def sign_up_link(request: Request, invitation: str) -> str:
    """Where the invitation is used: a path alone where the address of the service is not known."""
    return f"{site_address(request) or ''}/sign-up?invitation={invitation}"


def client_address(request: Request) -> str:
    return request.client.host if request.client else ""


def user_agent(request: Request) -> str:
    return request.headers.get("user-agent", "")


def _bearer(authorization: str) -> str:
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise TokenInvalid(
            "The Authorization header must read: Bearer, one space, the API token.",
            headers={"WWW-Authenticate": 'Bearer error="invalid_request"'},
        )
    return token.strip()
