"""How many requests one person may make a minute, and the headers that tell a client before it is refused.

Counted in this process: behind N processes one person gets up to N times as many, so it is a brake and no quota.
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
HEADERS = {
    "RateLimit-Policy": f'"requests";q=1200;w={_WINDOW_S}',
    "RateLimit": '"requests";r=1187;t=42',
}


@dataclass(frozen=True, slots=True)
class _Standing:
    permitted: int
    left: int
    renewed_in_s: int

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        """As ASGI has them."""
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
        """Count so many requests; `False` when they are too many. Several are counted all or not at all."""
        permitted = cost == 1 or await self._limiter.test(self._item, who, cost=cost)
        permitted = permitted and await self._limiter.hit(self._item, who, cost=cost)
        return permitted, await self.look(who)

    async def look(self, who: str) -> _Standing:
        """Count nothing."""
        stats = await self._limiter.get_window_stats(self._item, who)
        renewed_in_s = min(_WINDOW_S, max(1, ceil(stats.reset_time - time.time())))
        return _Standing(self._item.amount, stats.remaining, renewed_in_s)


class RateLimitHeaders:
    """ASGI wrapper: the answer says where the client stands, a refusal as well."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start" and (told := scope.get("state", {}).get("rate_limit_headers")):
                message["headers"] = [*message["headers"], *told]
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


def add_rate_limit_headers(app: FastAPI) -> None:
    app.add_middleware(RateLimitHeaders)
