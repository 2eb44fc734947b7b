"""Security headers on every response, including errors, so that an injected script cannot run."""

from fastapi import FastAPI
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.web.form_token import FormTokens
from app.web.next_page import CurrentPage
from app.web.theme import Themes
from app.web.time_zone import TimeZones

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
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
# Nothing else has an effect on a style sheet or a module: the policy of the page that loads them applies. A problem
# page loads two dozen of them.
_PART_TYPES = (b"text/css", b"text/javascript")
_OF_PARTS = {b"cross-origin-resource-policy", b"referrer-policy", b"x-content-type-options"}
_RAW_OF_PARTS = [each for each in _RAW if each[0] in _OF_PARTS]


class SecurityHeaders:
    """ASGI wrapper. A response that sets one of the headers itself keeps its own value."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = dict(message["headers"])
                is_part = present.get(b"content-type", b"").startswith(_PART_TYPES)
                added = _RAW_OF_PARTS if is_part else _RAW
                message["headers"] = [*message["headers"], *(each for each in added if each[0] not in present)]
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


def add_security_headers(app: FastAPI) -> None:
    """Wrap the whole stack of `app`, and let its templates write form tokens and sign-in addresses.

    Call it once, before the first request.

    Not `app.add_middleware`: Starlette handles unexpected errors outside those, so a 500 would have no such headers.
    """
    build = app.build_middleware_stack
    app.build_middleware_stack = lambda: SecurityHeaders(Themes(TimeZones(FormTokens(CurrentPage(build())))))  # type: ignore[method-assign]
