"""One log line and one measurement for each request, and the id that links its response to the log."""

import logging
import re
import secrets
import time

import structlog
from fastapi import FastAPI
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.core.background_loop import Activity
from app.operations.operating.metrics import Metrics

log = logging.getLogger(__name__)

HEADER = "X-Request-Id"
_SANE = re.compile(r"[A-Za-z0-9._-]{1,64}")
_API = "/api/v1"
# No other method that a client sends may become a label.
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
# These change nothing that a loop in the background would take up.
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
# Requested every few seconds by machines, or many times per page.
_QUIET = frozenset({"/healthz", "/readyz", "/metrics", "/static"})


class Requests:
    """ASGI wrapper. It writes the line when the response has ended. `ms` is the time until it began, as in metrics.

    The length of an event stream depends on its reader, and says nothing about the speed of the service.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, activity: Activity) -> None:
        self.app = app
        self._metrics = metrics
        self._activity = activity

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = _request_id(Headers(scope=scope).get(HEADER))
        # Not unbound: the server logs an unhandled error later, in the same context.
        structlog.contextvars.bind_contextvars(request_id=request_id)
        started, answered, status = time.perf_counter(), None, 500

        async def send_with_id(message: Message) -> None:
            nonlocal answered, status
            if message["type"] == "http.response.start":
                answered, status = time.perf_counter(), message["status"]
                # Nobody reports a style sheet, and a page loads thirty such files.
                if not scope["path"].startswith("/static/"):
                    MutableHeaders(scope=message)[HEADER] = request_id
            await send(message)

        try:
            await self.app(scope, receive, send_with_id)
        finally:
            seconds = (answered or time.perf_counter()) - started
            self._record(scope, status, seconds)
            if scope["method"] not in _READING:
                self._activity.note()

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in _METHODS else "other"
        route = route_of(scope)
        self._metrics.request(method, route, status, seconds)
        line = {"method": method, "route": route, "status": status, "ms": round(seconds * 1000, 1)}
        log.log(logging.DEBUG if route in _QUIET else logging.INFO, "request", extra=line)


def add_request_log(app: FastAPI, metrics: Metrics, activity: Activity) -> None:
    """Wrap the whole stack of `app`, including errors. Call it last, before the first request."""
    build = app.build_middleware_stack
    app.build_middleware_stack = lambda: Requests(build(), metrics, activity)  # type: ignore[method-assign]


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


def _request_id(sent: str | None) -> str:
    """The id from a proxy, so that its log and ours agree, or a new one if that does not look like an id."""
    return sent if sent is not None and _SANE.fullmatch(sent) else secrets.token_hex(8)
