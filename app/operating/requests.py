"""One line and one measurement for each request, and the id by which its answer is found in the log."""

import logging
import re
import secrets
import time

import structlog
from fastapi import FastAPI
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.operating.metrics import Metrics

log = logging.getLogger(__name__)

HEADER = "X-Request-Id"
_SANE = re.compile(r"[A-Za-z0-9._-]{1,64}")
_API = "/api/v1"
# Whatever else a client sends as a method must not become a label of its own.
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
# Asked for every few seconds by machines, or many times for one page.
_QUIET = frozenset({"/healthz", "/readyz", "/metrics", "/static"})


class Requests:
    """ASGI wrapper. The line is written when the answer has ended; `ms` is until it began, as in the metrics.

    A stream of events lasts as long as its reader wants, and says nothing about how quick the service is.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = _request_id(Headers(scope=scope).get(HEADER))
        # Not taken back: the server logs an unhandled error after this has ended, in the same context.
        structlog.contextvars.bind_contextvars(request_id=request_id)
        started, answered, status = time.perf_counter(), None, 500

        async def send_with_id(message: Message) -> None:
            nonlocal answered, status
            if message["type"] == "http.response.start":
                answered, status = time.perf_counter(), message["status"]
                MutableHeaders(scope=message)[HEADER] = request_id
            await send(message)

        try:
            await self.app(scope, receive, send_with_id)
        finally:
            seconds = (answered or time.perf_counter()) - started
            self._tell(scope, status, seconds)

    def _tell(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in _METHODS else "other"
        route = route_of(scope)
        self._metrics.request(method, route, status, seconds)
        line = {"method": method, "route": route, "status": status, "ms": round(seconds * 1000, 1)}
        log.log(logging.DEBUG if route in _QUIET else logging.INFO, "request", extra=line)


def add_request_log(app: FastAPI, metrics: Metrics) -> None:
    """Wrap the whole stack of `app`, errors included; call last, before the first request."""
    build = app.build_middleware_stack
    app.build_middleware_stack = lambda: Requests(build(), metrics)  # type: ignore[method-assign]


def route_of(scope: Scope) -> str:
    """The template of the route that answered. Never the path: that may hold secrets, and has no end of values."""
    path: str = scope["path"]
    if path.startswith("/static/"):
        return "/static"
    if path == "/openapi.json":
        return path
    template: str | None = getattr(scope.get("route"), "path", None)
    if template is None:
        return "unmatched"
    # A route of an included router knows its path without the prefix.
    return f"{_API}{template}" if path.startswith(f"{_API}/") and not template.startswith(_API) else template


def _request_id(given: str | None) -> str:
    """The one that a proxy gave, so that its log and ours agree, unless it could be anything else than an id."""
    return given if given is not None and _SANE.fullmatch(given) else secrets.token_hex(8)
