"""Answers HEAD of a page as GET would, without the body: link checkers and proxies ask so."""

from starlette.types import Scope


def is_head_of_page(scope: Scope) -> bool:
    """REST is left out, and so is an address that works once, because a preview must not use it up."""
    if scope["method"] != "HEAD":
        return False
    path: str = scope["path"]
    works_once = path.startswith("/sign-in") and bool(scope["query_string"])
    return not works_once and not path.startswith("/api/")
