"""The colours that a reader chose: the system's, light or dark. Pages are rendered with them, so that none flashes."""

from contextvars import ContextVar
from typing import Literal, get_args

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from app.core.web.cookies import THEME_COOKIE

Theme = Literal["system", "light", "dark"]
THEMES: tuple[Theme, ...] = get_args(Theme)

_shown: ContextVar[Theme] = ContextVar("theme", default="system")


class Themes:
    """ASGI wrapper that gives templates the theme of this browser."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith("/api/"):
            return await self.app(scope, receive, send)
        reset = _shown.set(read_theme(Request(scope).cookies.get(THEME_COOKIE, "")))
        try:
            await self.app(scope, receive, send)
        finally:
            _shown.reset(reset)


def read_theme(name: str) -> Theme:
    """Anything else than a theme is the system's."""
    return next((theme for theme in THEMES if theme == name), "system")


def theme() -> Theme:
    """Of the browser whose request is being answered."""
    return _shown.get()
