"""Compresses pages and their figures. Static files are compressed once, at the start (static_files.py); REST never is.

Compression shows someone who watches the network how long a page became, and so a little about secrets that it contains
beside text that they chose. docs/security.md says why that shows nothing here.
"""

from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.middleware.gzip import GZipResponder
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.core.web.cookies import SESSION_COOKIE
from app.core.web.static_files import accepts

_TYPES = {"text/html", "image/svg+xml"}
_SMALLEST = 500
# Level 9 takes twice as long as 5 and saves less than 2 % of a problem page.
_LEVEL = 5


class CompressedPages:
    """ASGI wrapper that sends pages with gzip, unless they contain a secret or another site asked for them."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _may_compress(Request(scope)):
            return await self.app(scope, receive, send)
        await _PageResponder(self.app, _SMALLEST, _LEVEL)(scope, receive, send)


class _PageResponder(GZipResponder):
    is_plain = False

    async def send_with_compression(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = Headers(raw=message["headers"])
            is_text = headers.get("content-type", "").partition(";")[0] in _TYPES
            self.is_plain = not is_text or headers.get("cache-control") == "no-store"
        await (self.send(message) if self.is_plain else super().send_with_compression(message))


def _may_compress(request: Request) -> bool:
    if not accepts(request.headers.get("accept-encoding", ""), "gzip"):
        return False
    # Measuring takes thousands of requests with chosen text, which only another site can make a browser send.
    is_foreign = request.headers.get("sec-fetch-site") in {"cross-site", "same-site"}
    return not (is_foreign and SESSION_COOKIE in request.cookies)


def add_compression(app: FastAPI) -> None:
    """Compress the pages of `app` and their figures. Call it before the first request."""
    app.add_middleware(CompressedPages)
