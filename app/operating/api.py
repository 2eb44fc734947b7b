"""/metrics, for monitoring."""

import hmac

from fastapi import APIRouter, Request
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import Response

from app.errors import MetricsRefused, TokenInvalid
from app.operating.services import OperatingServices
from app.services import services_of

router = APIRouter(include_in_schema=False)


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
    """Raises `MetricsRefused` if no token is set, because any user of this machine could otherwise read them; and
    `TokenInvalid`.
    """
    settings = services_of(request, OperatingServices).settings
    if settings.metrics_token is None:
        raise MetricsRefused(
            "The metrics have no token, so nobody may read them. Set MESHGRADE_METRICS_TOKEN, and send it as a bearer "
            "token."
        )
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    expected = settings.metrics_token.get_secret_value().encode()
    sent = token.strip().encode("utf-8", "surrogateescape")
    if scheme.lower() != "bearer" or not hmac.compare_digest(sent, expected):
        raise TokenInvalid(
            "To read the metrics, send MESHGRADE_METRICS_TOKEN as a bearer token.",
            headers={"WWW-Authenticate": "Bearer"},
        )
