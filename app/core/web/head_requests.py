"""Answers HEAD of a page as GET would, without the body: link checkers and proxies ask so."""

from fastapi import FastAPI
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class HeadRequests:
    """ASGI wrapper. REST is left out, and so is an address that works once, because a preview must not use it up."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD" or not _is_page(scope):
            return await self.app(scope, receive, send)

        async def send_without_body(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        # Not a copy: layers around this one read the route that the router finds.
        scope["method"] = "GET"
        try:
            await self.app(scope, receive, send_without_body)
        finally:
            scope["method"] = "HEAD"


def _is_page(scope: Scope) -> bool:
    path: str = scope["path"]
    works_once = path.startswith("/sign-in") and bool(scope["query_string"])
    return not works_once and not path.startswith("/api/")


def add_head_requests(app: FastAPI) -> None:
    """Answer HEAD on the pages of `app`. Call it after their compression, so that lengths are those of GET."""
    app.add_middleware(HeadRequests)
