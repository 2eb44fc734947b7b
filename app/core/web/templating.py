"""One Jinja environment for all pages. Escaping is always on, and an undefined name is an error.

A template's name begins with its room: `learning/workbench/problem.html` is the file `workbench/problem.html` in
app/learning/templates.
"""

import hashlib
import importlib.metadata
import sys
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, PrefixLoader, StrictUndefined
from jinja2.bccache import Bucket, FileSystemBytecodeCache
from starlette.responses import HTMLResponse, Response

from app.core.clock import now
from app.core.errors import Refused
from app.core.web.areas import side_bar
from app.core.web.etags import SENT_TAGS, is_known, not_modified, tag_of_page
from app.core.web.form_token import form_token
from app.core.web.icons import icon
from app.core.web.kept_parts import KeptParts, PageResponse
from app.core.web.messages import code_spans, listing_of, prose_of, short_number
from app.core.web.next_page import sign_in_address, this_page
from app.core.web.static_files import module_urls, static_url
from app.core.web.theme import THEMES, theme
from app.core.web.time_zone import zone
from app.core.web.units import bytes_text, exact_text
from grader.core.text import plain_text

_APP = Path(__file__).resolve().parents[2]


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _moment(moment: datetime) -> str:
    return moment.astimezone(zone()).strftime("%-d %b %Y, %H:%M %Z")


def _ago(moment: datetime) -> str:
    """How long ago it was, or how long until it happens: `3 minutes ago`, `in 5 days`. After a month, the date."""
    distance = now() - moment
    length = abs(distance)
    if length < timedelta(minutes=1):
        return "just now"
    if length >= timedelta(days=30):
        return moment.astimezone(zone()).strftime("%-d %b %Y")
    name, unit = next((name, unit) for name, unit in _UNITS if length >= unit)
    count = length // unit
    text = f"{count} {name}{'' if count == 1 else 's'}"
    return f"{text} ago" if distance > timedelta() else f"in {text}"


_UNITS = (("day", timedelta(days=1)), ("hour", timedelta(hours=1)), ("minute", timedelta(minutes=1)))


def _score(score: float) -> str:
    # Two decimals, so that programs with different places in a ranking rarely show the same number.
    return f"{score:.2f}"


class TemplateCache(FileSystemBytecodeCache):
    """Jinja's own cache of compiled templates: compiling all of them takes over a second.

    A folder that cannot be used means only that every start compiles.
    """

    def load_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            super().load_bytecode(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            Path(self.directory).mkdir(parents=True, exist_ok=True)
            super().dump_bytecode(bucket)


def template_cache(environment: Environment) -> TemplateCache | None:
    """The cache below PYTHONPYCACHEPREFIX, which `./meshgrade` sets; None if Python stores no compiled files there.

    Jinja itself notices a changed template. The folder's name changes with everything else that compiling depends on:
    a template that uses a filter which no longer exists must fail when it is compiled.
    """
    if sys.pycache_prefix is None or sys.dont_write_bytecode:
        return None
    known = [
        importlib.metadata.version("jinja2"),
        *sorted(environment.filters),
        *sorted(environment.tests),
        *sorted(environment.extensions),
    ]
    name = hashlib.sha256("\n".join(known).encode()).hexdigest()[:16]
    return TemplateCache(str(Path(sys.pycache_prefix) / "templates" / name))


class _Environment(Environment):
    def make_globals(self, own: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """The globals themselves: Jinja's copy would be read name by name for each page, and no template has others."""
        assert not own
        return self.globals


def _build_environment() -> Environment:
    environment = _Environment(
        loader=PrefixLoader({room.parent.name: FileSystemLoader(room) for room in _APP.glob("*/templates")}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # Otherwise each page checks the file system for changes of its templates.
        auto_reload=False,
        cache_size=-1,
        extensions=[KeptParts],
    )
    environment.globals["static"] = static_url
    environment.globals["modules"] = module_urls
    environment.globals["form_token"] = form_token
    environment.globals["side_bar"] = side_bar
    environment.globals["sign_in_address"] = sign_in_address
    environment.globals["icon"] = icon
    environment.globals["theme"] = theme
    environment.globals["themes"] = THEMES
    environment.globals["this_page"] = this_page
    environment.filters["iso"] = _iso
    environment.filters["moment"] = _moment
    environment.filters["ago"] = _ago
    environment.filters["plain_text"] = plain_text
    environment.filters["bytes"] = bytes_text
    environment.filters["exact"] = exact_text
    environment.filters["code_spans"] = code_spans
    environment.filters["prose_of"] = prose_of
    environment.filters["listing_of"] = listing_of
    environment.filters["short_number"] = short_number
    environment.filters["score"] = _score
    environment.bytecode_cache = template_cache(environment)
    return environment


ENVIRONMENT = _build_environment()


def add_filter(name: str, function: Callable[..., str]) -> None:
    """Give all templates one more filter. The module of a room that defines it calls this once, when it is imported."""
    ENVIRONMENT.filters[name] = function
    ENVIRONMENT.bytecode_cache = template_cache(ENVIRONMENT)


def compile_pages() -> None:
    """Compile every template now, so that the first reader of a page does not wait for it."""
    for name in ENVIRONMENT.list_templates():
        ENVIRONMENT.get_template(name)


_PAGE_HEADERS = {"Cache-Control": "private, no-cache"}


def render_page(
    name: str, /, *, status_code: int = 200, refusal: Refused | None = None, **context: Any
) -> HTMLResponse:
    """Render a template to a response that shared caches must not store, because pages show who is signed in.

    `refusal` is the error of a submitted form. The page shows it above the form, and has its status.
    """
    status_code = refusal.status if refusal else status_code
    pieces = ENVIRONMENT.get_template(name).generate(context, refusal=refusal)
    return PageResponse(pieces, status_code, _PAGE_HEADERS)


def render_list(
    name: str,
    /,
    *,
    more: Callable[[], Mapping[str, Any]] = dict,
    refusal: Refused | None = None,
    status_code: int = 200,
    **read: Any,
) -> Response:
    """Like `render_page`, but a browser that has the list as it is now gets 304, and nothing is rendered.

    Args:
      more: makes from `read`, and only from that, what the template needs beside it. It is called only to render.
      read: everything that the page shows, as it was read. For what many pages show, its `seen`: of `Catalogue`,
        `Lessons` and `SolvingTimes`.
    """
    etag = None if refusal or status_code != 200 else tag_of_page(name, read, _ago)
    headers = {**_PAGE_HEADERS, "ETag": etag} if etag else _PAGE_HEADERS
    if etag and is_known(etag, SENT_TAGS.get()):
        return not_modified(headers)
    page = render_page(name, status_code=status_code, refusal=refusal, **read, **more())
    page.headers.update(headers)
    return page


def render_secret_page(name: str, /, *, refusal: Refused | None = None, **context: Any) -> HTMLResponse:
    """Render a page that shows or asks for a secret, so no cache may store it, not even the browser's."""
    page = render_page(name, refusal=refusal, **context)
    page.headers["Cache-Control"] = "no-store"
    if refusal:
        page.headers.update(refusal.headers)
    return page
