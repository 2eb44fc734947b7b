"""/metrics, for monitoring."""

import hmac

from fastapi import Request
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import Response

from app.core.database import Database
from app.core.errors import MetricsRefused, TokenInvalid
from app.core.rest.routing import PageRouter
from app.core.services import Provided
from app.core.settings import Settings
from app.grading.queue.local_judge import LocalJudge
from app.grading.queue.workers import Workers
from app.operations.operating.attempt_statistics import AttemptStatistics
from app.operations.operating.metrics import Metrics

router = PageRouter(is_read_once=False)


@router.get("/metrics")
async def show_metrics(
    request: Request,
    metrics: Provided[Metrics],
    database: Provided[Database],
    tally: Provided[AttemptStatistics],
    workers: Provided[Workers],
    judge: Provided[LocalJudge],
    settings: Provided[Settings],
) -> Response:
    _require_operator(request, settings)
    own = judge if judge.is_here else LocalJudge()
    text = await metrics.render(database, tally, workers, own.pool_stats(), own.preparation())
    return Response(text, headers={"Content-Type": CONTENT_TYPE_LATEST, "Cache-Control": "no-store"})


def _require_operator(request: Request, settings: Settings) -> None:
    """Raises `MetricsRefused` if no token is set, because any user of this machine could otherwise read them; and
    `TokenInvalid`.
    """
    if settings.metrics_token is None:
        raise MetricsRefused(
            "No token for metrics is set, so nobody may read them. Set MESHGRADE_METRICS_TOKEN, and send it as a "
            "bearer token."
        )
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    expected = settings.metrics_token.get_secret_value().encode()
    sent = token.strip().encode("utf-8", "surrogateescape")
    if scheme.lower() != "bearer" or not hmac.compare_digest(sent, expected):
        raise TokenInvalid(
            "To read the metrics, send MESHGRADE_METRICS_TOKEN as a bearer token.",
            headers={"WWW-Authenticate": "Bearer"},
        )
