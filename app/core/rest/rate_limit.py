"""Headers that report how many requests a client has left, before one is refused.

See https://www.ietf.org/archive/id/draft-ietf-httpapi-ratelimit-headers-10.txt
"""

from starlette.types import Scope

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


def reported_rate(scope: Scope) -> list[tuple[bytes, bytes]]:
    """The headers that the route has left for its response, even for an error; empty if it counts no requests."""
    found: list[tuple[bytes, bytes]] = scope.get("state", {}).get("rate_limit_headers", [])
    return found
