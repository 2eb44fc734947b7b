"""ETags: a client that has the current response gets 304 without a body, and a list that it has is not rendered again.

A list's page has a tag of everything that it is made of, before it is rendered: what was read for it, the moments in it
as they read now, and the address, theme and time zone. What cannot be compared in this way, such as a function, leaves
the page without a tag, so it is always sent. A tag is valid as long as its process runs: templates change only with a
new one, and problems and lessons as their `seen` says.
"""

import hashlib
import secrets
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Any

from pydantic import BaseModel
from starlette.responses import Response

from app.core.web.form_token import BROWSER
from app.core.web.next_page import SHOWN_PAGE
from app.core.web.theme import SHOWN_THEME
from app.core.web.time_zone import CHOSEN_ZONE

# The header If-None-Match of the request for a page.
SENT_TAGS: ContextVar[str] = ContextVar("sent tags", default="")
_PROCESS = secrets.token_bytes(16)
_PLAIN = frozenset({type(None), bool, int, float, str, bytes})


def is_known(etag: str, sent: str) -> bool:
    """Whether the header If-None-Match names this tag."""
    return bool({each.strip().removeprefix("W/") for each in sent.split(",")} & {etag.removeprefix("W/"), "*"})


def tag_of(body: bytes) -> str:
    """The tag of a body that is sent unchanged."""
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def not_modified(headers: Mapping[str, str]) -> Response:
    return Response(status_code=304, headers=dict(headers))


def tag_of_page(name: str, read: Mapping[str, Any], in_words: Callable[[datetime], str]) -> str | None:
    """A tag of the page that the template `name` makes of `read`; None if an equal tag would not mean an equal page.

    The tag is weak, because each response masks the token of its forms in another way. A page has none if it sets the
    cookie of a browser's forms, or if it is the response to a form.

    Args:
      in_words: how the page may show a moment, such as "3 minutes ago".
    """
    browser, address = BROWSER.get(), SHOWN_PAGE.get()
    if browser is None or browser.is_new or not address:
        return None
    around = browser.secret, address, SHOWN_THEME.get(), CHOSEN_ZONE.get()
    try:
        written = repr(_contents((name, around, read), in_words)).encode()
    except (_NotComparable, RecursionError):
        # The second is for a value that contains itself.
        return None
    return f'W/"{hashlib.blake2b(written, key=_PROCESS, digest_size=16).hexdigest()}"'


class _NotComparable(Exception):
    """A value of a type whose contents are not known, such as a function."""


def _contents(value: Any, in_words: Callable[[datetime], str]) -> Any:
    """Plain values that are equal only if `value` looks the same on a page."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if isinstance(value, datetime):
        return value.isoformat(), in_words(value)
    if isinstance(value, str):
        return kind.__qualname__, str(value)
    if isinstance(value, list | tuple):
        return [each if type(each) in _PLAIN else _contents(each, in_words) for each in value]
    if isinstance(value, Mapping):
        return [_contents(list(value), in_words), _contents(list(value.values()), in_words)]
    if isinstance(value, set | frozenset):
        return sorted(map(repr, (_contents(each, in_words) for each in value)))
    parts = [getattr(value, each) for each in _parts_of(kind)]  # type: ignore[arg-type]  # a type is hashable
    return kind.__qualname__, [each if type(each) in _PLAIN else _contents(each, in_words) for each in parts]


@cache
def _parts_of(kind: type[Any]) -> tuple[str, ...]:
    """The names of the fields. Raises `_NotComparable` if an object may have more than those."""
    if issubclass(kind, BaseModel) and not kind.__private_attributes__:
        return tuple(kind.model_fields)
    if is_dataclass(kind):
        # The others are services: two objects that differ in them alone are equal.
        return tuple(each.name for each in fields(kind) if each.compare)
    raise _NotComparable(kind.__qualname__)
