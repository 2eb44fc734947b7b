"""Security headers on every response, including errors, so that an injected script cannot run."""

from fastapi import FastAPI
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.core.web.form_token import FormTokens
from app.core.web.next_page import with_current_page
from app.core.web.theme import with_theme
from app.core.web.time_zone import with_time_zone

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
SECURITY_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    # Not no-referrer: with it, browsers send `Origin: null` with our own forms, which the origin check refuses.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
# In the form that ASGI requires, encoded once because every response carries them.
_RAW = [(name.lower().encode("ascii"), value.encode("ascii")) for name, value in SECURITY_HEADERS.items()]
# Nothing else has an effect on a style sheet, font or module: the policy of the page that loads them applies. A problem
# page loads two dozen of them.
_PART_TYPES = (b"text/css", b"text/javascript", b"font/woff2")
_OF_PARTS = {
    b"cross-origin-resource-policy",
    b"strict-transport-security",
    b"x-content-type-options",
}
# A browser that was here by https once does not try http again, where somebody could answer in our place.
_HSTS = (b"strict-transport-security", b"max-age=31536000")


class SecurityHeaders:
    """ASGI wrapper. A response that sets one of the headers itself keeps its own value."""

    def __init__(self, app: ASGIApp, *, https: bool) -> None:
        self.app = app
        self._whole = [*_RAW, *([_HSTS] if https else [])]
        self._of_parts = [each for each in self._whole if each[0] in _OF_PARTS]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = dict(message["headers"])
                is_part = present.get(b"content-type", b"").startswith(_PART_TYPES)
                added = self._of_parts if is_part else self._whole
                message["headers"] = [*message["headers"], *(each for each in added if each[0] not in present)]
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


def add_security_headers(app: FastAPI, *, https: bool) -> None:
    """Wrap the whole stack of `app`, and let its templates write form tokens and sign-in addresses.

    With `https`, browsers use nothing else from then on. Call it once, before the first request.

    Not `app.add_middleware`: Starlette handles unexpected errors outside those, so a 500 would have no such headers.
    """
    build = app.build_middleware_stack
    app.build_middleware_stack = lambda: SecurityHeaders(  # type: ignore[method-assign]
        with_theme(with_time_zone(FormTokens(with_current_page(build())))), https=https
    )
