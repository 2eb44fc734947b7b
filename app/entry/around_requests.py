"""One pass around each request: what is read from its headers, and what every response carries.

Each concern is a function or a small class in its own room; here is only their order. The headers of a request are read
once, and those of its response are written once.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fastapi import FastAPI, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.core.background_loop import Activity
from app.core.rest.host_check import Hosts, unknown_host
from app.core.rest.rate_limit import reported_rate
from app.core.rest.request_line import RequestLine, goes_in_line, too_busy
from app.core.settings import Settings
from app.core.web.compression import CODING, compressed, is_compressible, may_compress
from app.core.web.etags import SENT_TAGS
from app.core.web.form_token import BROWSER, Browser
from app.core.web.head_requests import is_head_of_page
from app.core.web.kept_parts import PARTS
from app.core.web.next_page import SHOWN_PAGE, page_of
from app.core.web.proxies import Clients, Proxies
from app.core.web.security import SecurityHeaders
from app.core.web.sent_headers import SentHeaders
from app.core.web.theme import SHOWN_THEME, theme_of
from app.core.web.time_zone import CHOSEN_ZONE, zone_name_of
from app.operations.operating.metrics import Metrics
from app.operations.operating.request_log import HEADER, RequestLog, names_request


class AroundRequests:
    """ASGI wrapper of the whole stack, so that errors that nobody expected are logged and answered as others are."""

    def __init__(
        self,
        app: ASGIApp,
        settings: Settings,
        metrics: Metrics,
        clients: Clients,
        activity: Activity,
        is_full: Callable[[], bool],
    ) -> None:
        self._app = app
        self._metrics = metrics
        self._line = RequestLine(is_full)
        metrics.watch_line(lambda: self._line.waiting)
        self._log = RequestLog(metrics, activity)
        self._proxies = Proxies(settings.proxy_networks, clients)
        self._hosts = Hosts(settings)
        self._security = SecurityHeaders(https=settings.is_https)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        sent = SentHeaders(scope["headers"])
        request_id, method = self._log.begin(sent), scope["method"]
        self._proxies.name_client(scope, sent)
        # REST has no pages.
        browser = None if scope["path"].startswith("/api/") else Browser(sent)
        response = _Response(send, scope, sent, request_id, self._security, browser)
        app = self._app if self._hosts.admits(scope, sent) else unknown_host()
        # Not a copy: this reads the route that the router finds.
        scope["method"] = "GET" if response.is_without_body else method
        try:
            with _shown_to(browser, scope, sent):
                if goes_in_line(scope["path"]) and (seconds := await self._line.wait(method)):
                    self._metrics.refused()
                    app = too_busy(scope, sent, seconds)
                await app(scope, receive, response.send)
        finally:
            scope["method"] = method
            self._log.end(scope, response.status, (response.began_at or time.perf_counter()) - response.received_at)


def add_around_requests(
    app: FastAPI,
    settings: Settings,
    metrics: Metrics,
    clients: Clients,
    activity: Activity,
    is_full: Callable[[], bool] = lambda: False,
) -> None:
    """Call it once, before the first request. `is_full` says whether all connections to the database are in use.

    Not `app.add_middleware`: Starlette handles unexpected errors outside those, so a 500 would have no such headers.
    """
    build = app.build_middleware_stack
    app.build_middleware_stack = lambda: AroundRequests(  # type: ignore[method-assign]
        build(), settings, metrics, clients, activity, is_full
    )


@contextmanager
def _shown_to(browser: Browser | None, scope: Scope, sent: SentHeaders) -> Iterator[None]:
    """Let templates know the browser, its theme and time zone, the page that they draw, and what the browser has."""
    if browser is None:
        yield
        return
    forms, theme = BROWSER.set(browser), SHOWN_THEME.set(theme_of(sent))
    zone, page = CHOSEN_ZONE.set(zone_name_of(sent)), SHOWN_PAGE.set(page_of(scope))
    tags = SENT_TAGS.set(sent.first(b"if-none-match"))
    try:
        yield
    finally:
        SENT_TAGS.reset(tags)
        SHOWN_PAGE.reset(page)
        CHOSEN_ZONE.reset(zone)
        SHOWN_THEME.reset(theme)
        BROWSER.reset(forms)


class _Response:
    """Sends the response to one request. Its `status` is 500 until it begins."""

    def __init__(
        self,
        send: Send,
        scope: Scope,
        sent: SentHeaders,
        request_id: str,
        security: SecurityHeaders,
        browser: Browser | None,
    ) -> None:
        self._send, self._scope, self._sent = send, scope, sent
        self._request_id, self._security, self._browser = request_id, security, browser
        self.status = 500
        self.received_at, self.began_at = time.perf_counter(), 0.0
        self.is_without_body = is_head_of_page(scope)
        # The beginning of a page, which waits for the body that decides its length.
        self._waiting: Message | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.began_at, self.status = time.perf_counter(), message["status"]
            headers = dict(message["headers"])
            message["headers"] = [*message["headers"], *self._added(headers)]
            if is_compressible(self.status, headers) and may_compress(self._sent):
                self._waiting = message
            else:
                await self._send(message)
            return
        if self._waiting is not None:
            begun, self._waiting = self._waiting, None
            await self._begin_page(begun, message)
        await self._send({**message, "body": b""} if self.is_without_body and "body" in message else message)

    def _added(self, headers: dict[bytes, bytes]) -> Iterator[tuple[bytes, bytes]]:
        if names_request(self._scope):
            yield HEADER, self._request_id.encode("latin-1")
        yield from self._security.missing_in(headers)
        yield from reported_rate(self._scope)
        if self._browser is not None and (cookie := self._browser.cookie(Request(self._scope))) is not None:
            yield b"set-cookie", cookie

    async def _begin_page(self, begun: Message, message: Message) -> None:
        """Send the beginning of a page, and compress the message with its whole body."""
        is_whole = message["type"] == "http.response.body" and not message.get("more_body", False)
        short = await compressed(message.get(PARTS) or [message.get("body", b"")]) if is_whole else None
        if short is not None:
            message["body"] = short
            others = [each for each in begun["headers"] if each[0] not in (b"content-length", b"vary")]
            varies = b", ".join([*(value for name, value in begun["headers"] if name == b"vary"), b"Accept-Encoding"])
            length = (b"content-length", str(len(short)).encode())
            begun["headers"] = [*others, length, CODING, (b"vary", varies)]
        await self._send(begun)
