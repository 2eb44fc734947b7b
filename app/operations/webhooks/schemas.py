"""REST bodies and responses for webhooks."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from app.core.outbound_requests import URL_PATTERN
from app.core.rest.body import RequestBody
from app.core.view import View
from app.grading.attempts.views import AttemptJSON
from app.operations.webhooks.service import Delivery, Webhook


class AttemptFinishedJSON(View):
    """The body of a delivery. `data` is the attempt as `GET /attempts/{id}` returns it."""

    type: Literal["attempt.finished"] = "attempt.finished"
    timestamp: datetime
    data: AttemptJSON


class NewWebhookJSON(RequestBody):
    """An https:// address on the internet. Redirects are not followed."""

    # The pattern is only described here. app/core/outbound_requests.py enforces it and says what is wrong.
    url: str = Field(min_length=1, max_length=2000, json_schema_extra={"pattern": f"^{URL_PATTERN}$"})


class WebhookMadeJSON(Webhook):
    """`secret` signs each delivery. It is shown only once."""

    secret: str


class WebhookList(View):
    webhooks: list[Webhook]


class DeliveryPage(View):
    """Newest first. For the next page, send `next` as `before`. It is null on the last page."""

    deliveries: list[Delivery]
    next: str | None
