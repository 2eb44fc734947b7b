"""Protects forms in addition to the origin check: each form contains a token that other sites cannot know.

It is an HMAC with the session's token as key, which only this browser and, as a hash, the database have. A browser that
is not signed in gets a random cookie for it with its first form. Templates write `{{ form_token() }}` into every form,
and `Actions` (app/core/rest/actions.py) checks it.

Each response masks it with random bytes, so that the length of a compressed page says nothing about it.
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

from app.core.errors import FormTokenInvalid
from app.core.web.cookies import FORM_COOKIE, SESSION_COOKIE, set_cookie

FIELD = "form_token"


class _Browser:
    """The secret that the forms of one response are bound to. If it is `new`, a cookie is sent once a form is shown."""

    def __init__(self, request: Request) -> None:
        known = _bound_to(request)
        self.secret = known or secrets.token_urlsafe(32)
        self.token = _mask(_derive(self.secret))
        self.new = known is None
        self.shown = False


_browser: ContextVar[_Browser | None] = ContextVar("browser", default=None)


class FormTokens:
    """ASGI wrapper that lets templates write form tokens."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # REST never shows a form, not even in an error.
        if scope["type"] != "http" or scope["path"].startswith("/api/"):
            return await self.app(scope, receive, send)
        request = Request(scope)
        browser = _Browser(request)

        async def send_with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start" and browser.new and browser.shown:
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
    """The hidden field for the browser of the current request; empty outside a request."""
    browser = _browser.get()
    if browser is None:
        return Markup()
    browser.shown = True
    return Markup('<input type="hidden" name="{}" value="{}">').format(FIELD, browser.token)


def check_form_token(request: Request, token: str) -> None:
    """Raises `FormTokenInvalid`."""
    # Only a program sends this header: a form cannot, and a script of another site is not allowed to.
    if request.headers.get("authorization") is not None:
        return
    secret = _bound_to(request)
    if secret is None or not hmac.compare_digest(_derive(secret), _unmask(token)):
        raise FormTokenInvalid(
            "You signed in or out after this form was loaded, or your browser does not store cookies. "
            "Nothing was changed. Reload the page, then send the form again."
        )


def _bound_to(request: Request) -> str | None:
    return request.cookies.get(SESSION_COOKIE) or request.cookies.get(FORM_COOKIE) or None


def _derive(secret: str) -> bytes:
    return hmac.new(secret.encode("utf-8", "surrogatepass"), b"meshgrade form token", hashlib.sha256).digest()


def _mask(token: bytes) -> str:
    """Random bytes, and the token combined with them: different in each response, and random by itself."""
    mask = secrets.token_bytes(len(token))
    return (mask + _xor(mask, token)).hex()


def _unmask(text: str) -> bytes:
    """The token in a form's field; empty if `_mask` cannot have made it."""
    try:
        sent = bytes.fromhex(text)
    except ValueError:
        return b""
    half = len(sent) // 2
    return _xor(sent[:half], sent[half:]) if len(sent) % 2 == 0 else b""


def _xor(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=True))
