"""One log line and one measurement for each request, and the id that links its response to the log."""

import logging
import re
import secrets

import structlog
from starlette.types import Scope

from app.core.background_loop import Activity
from app.core.web.sent_headers import SentHeaders
from app.operations.operating.metrics import Metrics

log = logging.getLogger(__name__)

HEADER = b"x-request-id"
_SANE = re.compile(r"[A-Za-z0-9._-]{1,64}")
_API = "/api/v1"
# No other method that a client sends may become a label.
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
# These change nothing that a loop in the background would take up.
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
# Requested every few seconds by machines, or many times per page.
_QUIET = frozenset({"/healthz", "/readyz", "/metrics", "/static"})


class RequestLog:
    """Writes a line for each request when its response has ended. `seconds` are those until it began, as in metrics.

    The length of an event stream depends on its reader, and says nothing about the speed of the service.
    """

    def __init__(self, metrics: Metrics, activity: Activity) -> None:
        self._metrics = metrics
        self._activity = activity

    def begin(self, sent: SentHeaders) -> str:
        """The id of a request, which is in all lines of the log that belong to it."""
        request_id = _request_id(sent.first(HEADER))
        # Not unbound: the server logs an unhandled error later, in the same context.
        structlog.contextvars.bind_contextvars(request_id=request_id)
        return request_id

    def end(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in _METHODS else "other"
        route = route_of(scope)
        self._metrics.request(method, route, status, seconds)
        line = {"method": method, "route": route, "status": status, "ms": round(seconds * 1000, 1)}
        log.log(logging.DEBUG if route in _QUIET else logging.INFO, "request", extra=line)
        if method not in _READING:
            self._activity.note()


def names_request(scope: Scope) -> bool:
    """Whether the response has the id. Nobody reports a style sheet, and a page loads thirty such files."""
    return not scope["path"].startswith("/static/")


def route_of(scope: Scope) -> str:
    """The template of the matching route. Never the path, which can contain secrets and has any number of values."""
    path: str = scope["path"]
    if path.startswith("/static/"):
        return "/static"
    if path == "/openapi.json":
        return path
    template: str | None = getattr(scope.get("route"), "path", None)
    if template is None:
        return "unmatched"
    # A route of an included router has its path without the prefix.
    return f"{_API}{template}" if path.startswith(f"{_API}/") and not template.startswith(_API) else template


def _request_id(sent: str) -> str:
    """The id from a proxy, so that its log and ours agree, or a new one if that does not look like an id."""
    return sent if _SANE.fullmatch(sent) else secrets.token_hex(8)
