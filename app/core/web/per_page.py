"""What templates know of the request whose page they draw, such as the theme of its browser."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Generic, TypeVar

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

T = TypeVar("T")


class PerPage(Generic[T]):
    """ASGI wrapper that sets `variable` to what `read` finds in each request for a page. REST has no pages."""

    def __init__(self, app: ASGIApp, variable: ContextVar[T], read: Callable[[Request], T]) -> None:
        self._app, self._variable, self._read = app, variable, read

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith("/api/"):
            return await self._app(scope, receive, send)
        reset = self._variable.set(self._read(Request(scope)))
        try:
            await self._app(scope, receive, send)
        finally:
            self._variable.reset(reset)
