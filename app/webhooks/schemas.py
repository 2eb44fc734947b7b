"""REST bodies and responses for webhooks."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.attempts.schemas import EXAMPLE_FINISHED, AttemptJSON
from app.webhooks.outside import URL_PATTERN
from app.webhooks.service import Delivery, Webhook

_WEBHOOK: dict[str, Any] = {
    "id": "0b8f6e1d9b7a4f5e8d3c2b1a0f9e8d7c",
    "url": "https://example.org/verdicts",
    "created_at": "2026-01-05T09:30:00.000000Z",
}
_DELIVERY: dict[str, Any] = {
    "id": "5e8d3c2b1a0f9e8d7c0b8f6e1d9b7a4f",
    "attempt": "8c2f6e1d9b7a4f5e8d3c2b1a0f9e8d7c",
    "created_at": "2026-01-05T09:30:01.900000Z",
    "tries": 2,
    "next_try_at": "2026-01-05T09:30:37.000000Z",
    "delivered_at": None,
    "answer": "HTTP 503",
}


class AttemptFinishedJSON(BaseModel):
    """The body of a delivery. `data` is the attempt as `GET /attempts/{id}` returns it."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"type": "attempt.finished", "timestamp": "2026-01-05T09:30:01.900000Z", "data": EXAMPLE_FINISHED}
            ]
        },
    )

    type: Literal["attempt.finished"] = "attempt.finished"
    timestamp: datetime
    data: AttemptJSON


class NewWebhookJSON(BaseModel):
    """An https:// address on the internet. Redirects are not followed."""

    model_config = ConfigDict(
        strict=True, extra="forbid", json_schema_extra={"examples": [{"url": "https://example.org/verdicts"}]}
    )

    # The pattern is only described here. app/webhooks/outside.py enforces it and says what is wrong.
    url: str = Field(min_length=1, max_length=2000, json_schema_extra={"pattern": f"^{URL_PATTERN}$"})


class WebhookJSON(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_WEBHOOK]})

    id: str
    url: str
    created_at: datetime

    @classmethod
    def of(cls, webhook: Webhook) -> "WebhookJSON":
        return cls(id=webhook.id, url=webhook.url, created_at=webhook.created_at)


class WebhookMadeJSON(WebhookJSON):
    """`secret` signs each delivery. It is shown only once."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [_WEBHOOK | {"secret": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazfRW3sX0dQ="}]},
    )

    secret: str


class WebhookList(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"webhooks": [_WEBHOOK]}]})

    webhooks: list[WebhookJSON]


class DeliveryJSON(BaseModel):
    """`answer` is the outcome of the last try. `next_try_at` is null once it has arrived or was given up."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_DELIVERY]})

    id: str
    attempt: str
    created_at: datetime
    tries: int
    next_try_at: datetime | None
    delivered_at: datetime | None
    answer: str | None

    @classmethod
    def of(cls, delivery: Delivery) -> "DeliveryJSON":
        return cls(
            id=delivery.id,
            attempt=delivery.attempt_id,
            created_at=delivery.created_at,
            tries=delivery.tries,
            next_try_at=delivery.next_try_at,
            delivered_at=delivery.delivered_at,
            answer=delivery.answer,
        )


class DeliveryPage(BaseModel):
    """Newest first. For the next page, send `next` as `before`. It is null on the last page."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"deliveries": [_DELIVERY], "next": None}]}
    )

    deliveries: list[DeliveryJSON]
    next: str | None
