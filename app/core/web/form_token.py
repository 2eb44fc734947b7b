"""Protects forms in addition to the origin check: each form contains a token that other sites cannot know.

It is an HMAC with the session's token as key, which only this browser and, as a hash, the database have. A browser that
is not signed in gets a random cookie for it with its first form. Templates write `{{ form_token() }}` into every form,
and `Actions` (app/core/rest/actions.py) checks it.

Each response masks it with random bytes, so that the length of a compressed page says nothing about it.
"""

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from contextvars import ContextVar

from fastapi import Request
from markupsafe import Markup
from starlette.responses import Response

from app.core.errors import FormTokenInvalid
from app.core.web.cookies import FORM_COOKIE, SESSION_COOKIE, set_cookie
from app.core.web.sent_headers import SentHeaders

FIELD = "form_token"


class Browser:
    """The secret that the forms of one response are bound to. If it `is_new`, a cookie is sent once a form is shown."""

    def __init__(self, sent: SentHeaders) -> None:
        known = _bound_to(sent.cookies)
        self.is_new = known is None
        self._secret = known
        self._field: Markup | None = None

    @property
    def secret(self) -> str:
        if self._secret is None:
            self._secret = secrets.token_urlsafe(32)
        return self._secret

    @property
    def field(self) -> Markup:
        """The same in all forms of this response. Most responses have none, and then it is not computed."""
        if self._field is None:
            token = _mask(_derive(self.secret))
            self._field = Markup('<input type="hidden" name="{}" value="{}">').format(FIELD, token)
        return self._field

    def cookie(self, request: Request) -> bytes | None:
        """The value of a Set-Cookie header; None if the browser has a secret, or was shown no form."""
        if not self.is_new or self._field is None:
            return None
        carrier = Response()
        set_cookie(request, carrier, FORM_COOKIE, self.secret)
        return carrier.headers["set-cookie"].encode("latin-1")


# REST never shows a form, not even in an error.
BROWSER: ContextVar[Browser | None] = ContextVar("browser", default=None)


def form_token() -> Markup:
    """The hidden field for the browser of the current request; empty outside a request."""
    browser = BROWSER.get()
    return Markup() if browser is None else browser.field


def check_form_token(request: Request, token: str) -> None:
    """Raises `FormTokenInvalid`."""
    # Only a program sends this header: a form cannot, and a script of another site is not allowed to.
    if request.headers.get("authorization") is not None:
        return
    secret = _bound_to(request.cookies)
    if secret is None or not hmac.compare_digest(_derive(secret), _unmask(token)):
        raise FormTokenInvalid(
            "You signed in or out after this form was loaded, or your browser does not store cookies. "
            "Nothing was changed. Reload the page, then send the form again."
        )


def _bound_to(cookies: Mapping[str, str]) -> str | None:
    return cookies.get(SESSION_COOKIE) or cookies.get(FORM_COOKIE) or None


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
