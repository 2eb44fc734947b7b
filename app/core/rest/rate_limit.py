"""Headers that report how many requests a client has left, before one is refused.

See https://www.ietf.org/archive/id/draft-ietf-httpapi-ratelimit-headers-10.txt
"""

from fastapi import FastAPI
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.core.limits import Limit, Standing

# As OpenAPI describes them.
DESCRIBED_HEADERS = {
    "RateLimit-Policy": {"schema": {"type": "string"}, "example": '"requests";q=1200;w=60'},
    "RateLimit": {"schema": {"type": "string"}, "example": '"requests";r=1187;t=42'},
}


def rate_limit_headers(limit: Limit, standing: Standing) -> list[tuple[bytes, bytes]]:
    """The headers in the form that ASGI requires."""
    window_s = int(limit.window.total_seconds())
    return [
        (b"ratelimit-policy", b'"requests";q=%d;w=%d' % (limit.most, window_s)),
        (b"ratelimit", b'"requests";r=%d;t=%d' % (standing.left, standing.ends_in_s)),
    ]


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
