"""Who is asking: a bearer token or the session cookie, and the origin check that a cookie needs."""

from urllib.parse import urlsplit

from fastapi import Request
from starlette.responses import RedirectResponse, Response

from app.accounts.service import Accounts, User
from app.errors import NotSignedIn, OriginRefused, TokenInvalid
from app.settings import Settings

SESSION_COOKIE = "meshgrade_session"
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


async def current_user(request: Request) -> User | None:
    """Who is asking, or `None`. A bearer token that is sent must be valid; a stale cookie is no user.

    Raises:
      TokenInvalid: there is an Authorization header, and it does not hold a valid bearer token.
      OriginRefused: an unsafe method with a cookie, and nothing shows that a page of this site sent it.
    """
    accounts: Accounts = request.app.state.accounts
    authorization = request.headers.get("authorization")
    if authorization is not None:
        return await accounts.user_of_token(_bearer(authorization))
    cookie = request.cookies.get(SESSION_COOKIE)
    if not cookie:
        return None
    user = await accounts.user_of_session(cookie)
    if user is not None and request.method not in _SAFE_METHODS:
        check_origin(request)
    return user


async def require_user(request: Request) -> User:
    """Who is asking. Raises `NotSignedIn` (401) for nobody."""
    user = await current_user(request)
    if user is None:
        raise NotSignedIn(
            "Send an API token (Authorization: Bearer …), or sign in with the link that the server printed.",
            headers={"WWW-Authenticate": "Bearer"},
        )
    return user


def check_origin(request: Request) -> None:
    """Refuse a request that another site made the browser send. Neither header can be set by a page's script."""
    settings: Settings = request.app.state.settings
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


async def sign_in_with_link(request: Request, link_token: str) -> Response:
    """Use up a sign-in link: sets the session cookie and goes to the front page. Raises `SignInLinkInvalid`."""
    accounts: Accounts = request.app.state.accounts
    response = RedirectResponse("/", status_code=303)
    response.set_cookie(
        SESSION_COOKIE,
        await accounts.sign_in(link_token),
        max_age=int(accounts.session_life.total_seconds()),
        httponly=True,
        samesite="lax",
        secure=_is_https(request),
    )
    # The address held a secret: it goes neither into a cache nor to the next site.
    response.headers["Cache-Control"] = "no-store"
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


async def sign_out(request: Request) -> Response:
    """Revoke this browser's session and go to the front page."""
    accounts: Accounts = request.app.state.accounts
    cookie = request.cookies.get(SESSION_COOKIE)
    if cookie:
        check_origin(request)
        await accounts.sign_out(cookie)
    response = RedirectResponse("/", status_code=303)
    response.delete_cookie(SESSION_COOKIE, httponly=True, samesite="lax", secure=_is_https(request))
    return response


def _is_https(request: Request) -> bool:
    settings: Settings = request.app.state.settings
    return request.url.scheme == "https" or (settings.public_url or "").startswith("https://")


def _bearer(authorization: str) -> str:
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise TokenInvalid(
            "The Authorization header must read: Bearer, one space, the API token.",
            headers={"WWW-Authenticate": 'Bearer error="invalid_request"'},
        )
    return token.strip()
