"""The colours that a reader chose: the system's, light or dark. Pages are rendered with them, so that none flashes."""

from contextvars import ContextVar
from typing import Literal, get_args

from starlette.types import ASGIApp

from app.core.web.cookies import THEME_COOKIE
from app.core.web.per_page import PerPage

Theme = Literal["system", "light", "dark"]
THEMES: tuple[Theme, ...] = get_args(Theme)

_shown: ContextVar[Theme] = ContextVar("theme", default="system")


def with_theme(app: ASGIApp) -> ASGIApp:
    """Give templates the theme of this browser."""
    return PerPage(app, _shown, lambda request: read_theme(request.cookies.get(THEME_COOKIE, "")))


def read_theme(name: str) -> Theme:
    """Anything else than a theme is the system's."""
    return next((theme for theme in THEMES if theme == name), "system")


def theme() -> Theme:
    """Of the browser whose request is being answered."""
    return _shown.get()
