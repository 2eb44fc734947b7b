"""The colours that a reader chose: the system's, light or dark. Pages are rendered with them, so that none flashes."""

from contextvars import ContextVar
from typing import Literal, get_args

from fastapi import Request
from starlette.responses import Response

from app.core.web.cookies import THEME_COOKIE, delete_cookie, set_cookie
from app.core.web.sent_headers import SentHeaders

Theme = Literal["system", "light", "dark"]
THEMES: tuple[Theme, ...] = get_args(Theme)

_YEAR_S = 365 * 24 * 60 * 60

SHOWN_THEME: ContextVar[Theme] = ContextVar("theme", default="system")


def theme_of(sent: SentHeaders) -> Theme:
    """The theme of the browser that sent a request."""
    return read_theme(sent.cookies.get(THEME_COOKIE, ""))


def read_theme(name: str) -> Theme:
    """Anything else than a theme is the system's."""
    return next((theme for theme in THEMES if theme == name), "system")


def keep_theme(request: Request, response: Response, name: str) -> None:
    """Keep the choice in the browser that sent the request."""
    chosen = read_theme(name)
    if chosen == "system":
        delete_cookie(request, response, THEME_COOKIE)
    else:
        set_cookie(request, response, THEME_COOKIE, chosen, max_age_s=_YEAR_S)


def theme() -> Theme:
    """Of the browser whose request is being answered."""
    return SHOWN_THEME.get()
