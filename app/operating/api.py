"""/metrics, for monitoring."""

import hmac
import ipaddress

from fastapi import APIRouter, Request
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import Response

from app.errors import MetricsRefused, TokenInvalid
from app.operating.services import OperatingServices
from app.services import services_of

router = APIRouter(include_in_schema=False)
# With any of these headers, the request came through a proxy, so it may come from anywhere.
_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via")


@router.get("/metrics")
async def show_metrics(request: Request) -> Response:
    _require_operator(request)
    services = services_of(request, OperatingServices)
    text = await services.metrics.render(
        services.database,
        services.tally,
        services.workers,
        services.pool_stats() if services.pool_stats else None,
        services.preparation() if services.preparation else None,
    )
    return Response(text, headers={"Content-Type": CONTENT_TYPE_LATEST, "Cache-Control": "no-store"})


def _require_operator(request: Request) -> None:
    """Raises `TokenInvalid` if a token is set, and `MetricsRefused` if none is set and the client is elsewhere."""
    settings = services_of(request, OperatingServices).settings
    if settings.metrics_token is None:
        if not _is_local(request):
            raise MetricsRefused(
                "Without a token, only this machine may read the metrics. Set MESHGRADE_METRICS_TOKEN and send it as a "
                "bearer token."
            )
        return
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    expected = settings.metrics_token.get_secret_value().encode()
    sent = token.strip().encode("utf-8", "surrogateescape")
    if scheme.lower() != "bearer" or not hmac.compare_digest(sent, expected):
        raise TokenInvalid(
            "To read the metrics, send MESHGRADE_METRICS_TOKEN as a bearer token.",
            headers={"WWW-Authenticate": "Bearer"},
        )


def _is_local(request: Request) -> bool:
    if request.client is None or any(name in request.headers for name in _FORWARDED):
        return False
    try:
        return ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        return False
