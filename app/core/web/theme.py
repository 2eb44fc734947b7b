"""The colours that a reader chose: the system's, light or dark. Pages are rendered with them, so that none flashes."""

from contextvars import ContextVar
from typing import Literal, get_args

from app.core.web.cookies import THEME_COOKIE
from app.core.web.sent_headers import SentHeaders

Theme = Literal["system", "light", "dark"]
THEMES: tuple[Theme, ...] = get_args(Theme)

SHOWN_THEME: ContextVar[Theme] = ContextVar("theme", default="system")


def theme_of(sent: SentHeaders) -> Theme:
    """The theme of the browser that sent a request."""
    return read_theme(sent.cookies.get(THEME_COOKIE, ""))


def read_theme(name: str) -> Theme:
    """Anything else than a theme is the system's."""
    return next((theme for theme in THEMES if theme == name), "system")


def theme() -> Theme:
    """Of the browser whose request is being answered."""
    return SHOWN_THEME.get()
