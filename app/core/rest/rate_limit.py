"""Limits the requests of each user per minute, and reports the rest in headers before a client is refused.

Each process counts separately. With N processes, a user can send up to N times as many, so this is not an exact quota.
The headers: https://www.ietf.org/archive/id/draft-ietf-httpapi-ratelimit-headers-10.txt
"""

import time
from dataclasses import dataclass
from math import ceil

from fastapi import FastAPI
from limits import RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import FixedWindowRateLimiter
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_WINDOW_S = 60
# As OpenAPI describes them.
DESCRIBED_HEADERS = {
    "RateLimit-Policy": {"schema": {"type": "string"}, "example": f'"requests";q=1200;w={_WINDOW_S}'},
    "RateLimit": {"schema": {"type": "string"}, "example": '"requests";r=1187;t=42'},
}


@dataclass(frozen=True, slots=True)
class _Standing:
    permitted: int
    left: int
    renewed_in_s: int

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        """The headers in the form that ASGI requires."""
        return [
            (b"ratelimit-policy", b'"requests";q=%d;w=%d' % (self.permitted, _WINDOW_S)),
            (b"ratelimit", b'"requests";r=%d;t=%d' % (self.left, self.renewed_in_s)),
        ]


class RateLimit:
    """Belongs to one event loop."""

    def __init__(self, per_minute: int) -> None:
        self._item = RateLimitItemPerMinute(per_minute)
        self._limiter = FixedWindowRateLimiter(MemoryStorage())

    async def take(self, who: str, cost: int = 1) -> tuple[bool, _Standing]:
        """Count `cost` requests, either all or none of them. `False` if they exceed the limit."""
        permitted = cost == 1 or await self._limiter.test(self._item, who, cost=cost)
        permitted = permitted and await self._limiter.hit(self._item, who, cost=cost)
        return permitted, await self.look(who)

    async def look(self, who: str) -> _Standing:
        """The current standing, without counting a request."""
        stats = await self._limiter.get_window_stats(self._item, who)
        renewed_in_s = min(_WINDOW_S, max(1, ceil(stats.reset_time - time.time())))
        return _Standing(self._item.amount, stats.remaining, renewed_in_s)


class RateLimitHeaders:
    """ASGI wrapper: every response, even an error, carries the client's rate limit."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start" and (added := scope.get("state", {}).get("rate_limit_headers")):
                message["headers"] = [*message["headers"], *added]
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


def add_rate_limit_headers(app: FastAPI) -> None:
    app.add_middleware(RateLimitHeaders)
