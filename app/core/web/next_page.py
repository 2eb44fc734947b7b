"""The page of this site to which a form or an address leads next, and the page that a response shows."""

import re
from contextvars import ContextVar
from urllib.parse import quote

from starlette.types import Scope

# One slash: two, or a slash and a backslash, begin the name of another host in a browser.
_OWN = re.compile(r"/|/(?![/\\])[\x21-\x5b\x5d-\x7e]{1,1999}")
SHOWN_PAGE: ContextVar[str] = ContextVar("page", default="")


def own_page(page: str, otherwise: str = "/account") -> str:
    """`page` if it is a path of this site, perhaps with a query; else `otherwise`."""
    return page if _OWN.fullmatch(page) else otherwise


def page_of(scope: Scope) -> str:
    """Path and query that a browser can open again; empty for `/sign-…`, which works once or contains a secret."""
    if scope["method"] != "GET" or scope["path"].startswith("/sign-"):
        return ""
    query = scope["query_string"].decode("latin-1")
    path: str = scope.get("raw_path", scope["path"].encode()).decode("latin-1").partition("?")[0]
    return own_page(f"{path}?{query}" if query else path, "")


def sign_in_address(page: str | None = None) -> str:
    """The sign-in page, which then leads to `page`, or else back to the current page."""
    page = SHOWN_PAGE.get() if page is None else own_page(page, "")
    return f"/sign-in?next={quote(page, safe='/')}" if page not in {"", "/"} else "/sign-in"


def this_page() -> str:
    """The page that is being drawn, for a form on it to lead back to; the first page where it is none to open again."""
    return SHOWN_PAGE.get() or "/"
