"""The second lock on forms, beside the origin check: a token in each of our forms that other sites cannot know.

It is an HMAC under the session's token, which only this browser and, hashed, the database hold. A browser that is not
signed in gets a cookie of chance for it when it is first shown a form. Templates write `{{ form_token() }}` into every
form; `read_form` (forms.py) checks it.
"""

import hashlib
import hmac
import secrets
from contextvars import ContextVar

from fastapi import Request
from markupsafe import Markup
from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.errors import FormTokenInvalid
from app.web.cookies import FORM_COOKIE, SESSION_COOKIE, set_cookie

FIELD = "form_token"


class _Browser:
    """What the forms of one response are bound to. `drawn` is a new cookie, sent only if a form was shown."""

    def __init__(self, request: Request) -> None:
        known = _bound_to(request)
        self.secret = known or secrets.token_urlsafe(32)
        self.drawn = known is None
        self.shown = False


_browser: ContextVar[_Browser | None] = ContextVar("browser", default=None)


class FormTokens:
    """ASGI wrapper that lets templates write form tokens."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # REST shows no form, not even in an error.
        if scope["type"] != "http" or scope["path"].startswith("/api/"):
            return await self.app(scope, receive, send)
        request = Request(scope)
        browser = _Browser(request)

        async def send_with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start" and browser.drawn and browser.shown:
                carrier = Response()
                set_cookie(request, carrier, FORM_COOKIE, browser.secret)
                MutableHeaders(scope=message).append("set-cookie", carrier.headers["set-cookie"])
            await send(message)

        reset = _browser.set(browser)
        try:
            await self.app(scope, receive, send_with_cookie)
        finally:
            _browser.reset(reset)


def form_token() -> Markup:
    """The hidden field, for the browser whose request is being answered; empty outside of a request."""
    browser = _browser.get()
    if browser is None:
        return Markup()
    browser.shown = True
    return Markup('<input type="hidden" name="{}" value="{}">').format(FIELD, _derive(browser.secret))


def check_form_token(request: Request, given: str) -> None:
    """Raises `FormTokenInvalid`."""
    # Whoever sends this header is a program: a form cannot, and a script of another site is not allowed to.
    if request.headers.get("authorization") is not None:
        return
    secret = _bound_to(request)
    if secret is None or not hmac.compare_digest(_derive(secret).encode(), given.encode()):
        raise FormTokenInvalid(
            "The form is from before you signed in or out, or this browser keeps no cookies. "
            "Nothing was changed: reload the page, then send it again."
        )


def _bound_to(request: Request) -> str | None:
    return request.cookies.get(SESSION_COOKIE) or request.cookies.get(FORM_COOKIE) or None


def _derive(secret: str) -> str:
    return hmac.new(secret.encode("utf-8", "surrogatepass"), b"meshgrade form token", hashlib.sha256).hexdigest()
